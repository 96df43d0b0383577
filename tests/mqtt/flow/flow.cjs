// node flow.cjs PORT BASE PREFIX PROTOCOL: plays Home Assistant's part with MQTT.js, prints what came of it.
//
// It learns every topic from the board's own description, gives each command in it, and waits for the
// event or the state that shows its effect. One JSON object on standard output; exit code 1 and one line
// on standard error where something did not come in time.
'use strict'

const mqtt = require('mqtt')

const [port, base, prefix, protocol] = process.argv.slice(2)
const LIMIT_MS = 40000
const seen = []
const waiting = []

const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
  protocolVersion: Number(protocol),
  reconnectPeriod: 0
})

client.on('message', (topic, payload) => {
  seen.push({ topic, text: payload.toString() })
  for (const look of [...waiting]) look()
})

function until (what, found, from = 0) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not in time: ${what}`)), LIMIT_MS)
    const look = () => {
      const hit = seen.slice(from).find(found)
      if (hit === undefined) return
      clearTimeout(timer)
      waiting.splice(waiting.indexOf(look), 1)
      resolve(hit)
    }
    waiting.push(look)
    look()
  })
}

const json = ({ text }) => { try { return JSON.parse(text) } catch { return {} } }
const event = (kind, id) => m => m.topic === `${base}/event` && json(m).event === kind && (!id || json(m).id === id)
const state = (topic, fits) => m => m.topic === topic && fits(json(m))
const filled = (template, value) => template.replace('{{ value | tojson }}', JSON.stringify(value))

async function announce (component, text) {
  const from = seen.length
  await client.publishAsync(component.command_topic, filled(component.command_template, text), { qos: 1 })
  const id = json(await until('accepted', event('accepted'), from)).id
  return { id, from }
}

async function main () {
  await client.subscribeAsync([`${prefix}/device/+/config`, `${base}/#`], { qos: 1 })
  const config = await until('the description', m => m.topic.startsWith(`${prefix}/device/`))
  const { cmps, availability } = json(config)
  const online = await until('online', m => m.topic === availability[0].topic && m.text === 'online')
  const result = { device: config.topic, availability: online.text }

  const said = await announce(cmps.announce, 'The "washer" is done.')
  result.finished = json(await until('finished', event('finished', said.id), said.from))

  let from = seen.length
  await client.publishAsync(cmps.volume.command_topic, '0.35', { qos: 1 })
  result.volume = json(await until('the volume', state(cmps.volume.state_topic, s => s.volume === 0.35), from)).volume

  from = seen.length
  await client.publishAsync(cmps.voice.command_topic, cmps.voice.options[0], { qos: 1 })
  result.voice = json(await until('the voice', m => json(m).what === 'voice', from)).reason

  const long = await announce(cmps.alarm, 'One two three four five six seven. '.repeat(30))
  await until('started', event('started', long.id), long.from)
  await until('speaking', state(cmps.speaking.state_topic, s => Boolean(s.speaking)), long.from)
  await client.publishAsync(cmps.stop.command_topic, cmps.stop.payload_press, { qos: 1 })
  const end = await until('the end', m => event('dropped', long.id)(m) || event('failed', long.id)(m), long.from)
  result.stopped = json(end).event

  const members = Object.keys(json(seen.filter(m => m.topic === cmps.volume.state_topic).at(-1)))
  const read = Object.values(cmps).filter(c => c.value_template)
    .map(c => /value_json\.(\w+)/.exec(c.value_template)[1])
  result.missing = read.filter(name => !members.includes(name))
  process.stdout.write(JSON.stringify(result) + '\n')
}

const opened = new Promise((resolve, reject) => { client.once('connect', resolve); client.once('error', reject) })
opened.then(main).then(() => client.endAsync()).catch(error => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
