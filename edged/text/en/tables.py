"""Words of English normalization: months, units, currencies, abbreviations, initialisms, cues.

Facts of the language, written down here; nothing is computed at import but a few sets.
"""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "may": "May", "jun": "June",
    "jul": "July", "aug": "August", "sep": "September", "sept": "September", "oct": "October",
    "nov": "November", "dec": "December",
}  # fmt: skip
MONTH_NAMES = tuple(dict.fromkeys(MONTHS.values()))
DAYS = {
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "weds": "Wednesday",
    "thu": "Thursday", "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday",
    "sun": "Sunday",
}  # fmt: skip

# Symbol as written -> singular, or singular|plural where that is irregular. Case counts.
UNITS = {
    "km": "kilometer", "m": "meter", "dm": "decimeter", "cm": "centimeter", "mm": "millimeter",
    "µm": "micrometer", "um": "micrometer", "nm": "nanometer", "in": "inch", "ft": "foot|feet",
    "yd": "yard", "yds": "yard", "mi": "mile", "nmi": "nautical mile", "ly": "light year",
    "au": "astronomical unit", "kg": "kilogram", "g": "gram", "gr": "gram", "mg": "milligram",
    "µg": "microgram", "ug": "microgram", "mcg": "microgram", "ng": "nanogram", "lb": "pound",
    "lbs": "pound", "oz": "ounce", "t": "ton", "l": "liter", "L": "liter",
    "dl": "deciliter", "dL": "deciliter", "cl": "centiliter", "cL": "centiliter", "ml": "milliliter",
    "mL": "milliliter", "µl": "microliter", "µL": "microliter", "hl": "hectoliter", "gal": "gallon",
    "qt": "quart", "pt": "pint", "tsp": "teaspoon", "tbsp": "tablespoon", "Tbsp": "tablespoon",
    "fl oz": "fluid ounce", "floz": "fluid ounce", "h": "hour", "hr": "hour", "hrs": "hour",
    "min": "minute", "mins": "minute", "s": "second", "sec": "second", "secs": "second",
    "ms": "millisecond", "msec": "millisecond", "µs": "microsecond", "us": "microsecond",
    "ns": "nanosecond", "d": "day", "wk": "week", "wks": "week", "mo": "month", "mos": "month",
    "yr": "year", "yrs": "year", "W": "watt", "kW": "kilowatt", "KW": "kilowatt", "MW": "megawatt",
    "GW": "gigawatt", "mW": "milliwatt", "Wh": "watt hour", "kWh": "kilowatt hour", "KWh": "kilowatt hour",
    "KWH": "kilowatt hour", "kwh": "kilowatt hour", "MWh": "megawatt hour", "GWh": "gigawatt hour",
    "Wp": "watt peak|watts peak", "kWp": "kilowatt peak|kilowatts peak", "V": "volt", "kV": "kilovolt",
    "mV": "millivolt", "µV": "microvolt", "A": "amp", "mA": "milliamp", "µA": "microamp", "kA": "kiloamp",
    "Ah": "amp hour", "mAh": "milliamp hour", "VA": "volt amp", "kVA": "kilovolt amp", "Ω": "ohm",
    "kΩ": "kilohm", "MΩ": "megohm", "F": "degree Fahrenheit|degrees Fahrenheit",
    "C": "degree Celsius|degrees Celsius", "K": "kelvin|kelvin", "µF": "microfarad", "nF": "nanofarad",
    "pF": "picofarad", "mH": "millihenry|millihenries", "µH": "microhenry|microhenries", "T": "tesla",
    "µT": "microtesla", "Hz": "hertz|hertz", "kHz": "kilohertz|kilohertz", "KHz": "kilohertz|kilohertz",
    "MHz": "megahertz|megahertz", "GHz": "gigahertz|gigahertz", "THz": "terahertz|terahertz",
    "mHz": "millihertz|millihertz", "dB": "decibel", "db": "decibel", "dBm": "decibel milliwatt",
    "dBA": "A-weighted decibel", "dBi": "decibel isotropic|decibels isotropic",
    "rpm": "revolution per minute|revolutions per minute",
    "RPM": "revolution per minute|revolutions per minute", "bpm": "beat per minute|beats per minute",
    "BPM": "beat per minute|beats per minute", "ppm": "part per million|parts per million",
    "ppb": "part per billion|parts per billion", "mph": "mile per hour|miles per hour",
    "MPH": "mile per hour|miles per hour", "mpg": "mile per gallon|miles per gallon",
    "kmh": "kilometer per hour|kilometers per hour", "kph": "kilometer per hour|kilometers per hour",
    "km/h": "kilometer per hour|kilometers per hour", "kn": "knot", "kt": "knot", "kts": "knot",
    "cfm": "cubic foot per minute|cubic feet per minute", "lpm": "liter per minute|liters per minute",
    "Pa": "pascal", "hPa": "hectopascal", "kPa": "kilopascal", "MPa": "megapascal", "bar": "bar",
    "mbar": "millibar", "mb": "millibar", "psi": "pound per square inch|pounds per square inch",
    "PSI": "pound per square inch|pounds per square inch", "inHg": "inch of mercury|inches of mercury",
    "mmHg": "millimeter of mercury|millimeters of mercury", "atm": "atmosphere", "lx": "lux|lux",
    "lm": "lumen", "cd": "candela", "J": "joule", "kJ": "kilojoule", "MJ": "megajoule", "cal": "calorie",
    "kcal": "kilocalorie", "BTU": "British thermal unit", "btu": "British thermal unit", "N": "newton",
    "kN": "kilonewton", "Nm": "newton meter", "kNm": "kilonewton meter",
    "mNm": "millinewton meter", "hp": "horsepower|horsepower", "mol": "mole",
    "Bq": "becquerel", "Sv": "sievert", "mSv": "millisievert", "µSv": "microsievert", "eV": "electronvolt",
    "bit": "bit", "bits": "bit", "B": "byte", "kB": "kilobyte", "KB": "kilobyte", "MB": "megabyte",
    "GB": "gigabyte", "TB": "terabyte", "PB": "petabyte", "KiB": "kibibyte", "MiB": "mebibyte",
    "GiB": "gibibyte", "TiB": "tebibyte", "bps": "bit per second|bits per second",
    "kbps": "kilobit per second|kilobits per second", "Kbps": "kilobit per second|kilobits per second",
    "Mbps": "megabit per second|megabits per second", "mbps": "megabit per second|megabits per second",
    "Gbps": "gigabit per second|gigabits per second", "kbit": "kilobit", "Mbit": "megabit",
    "Gbit": "gigabit", "Kb": "kilobit", "kb": "kilobit", "Mb": "megabit", "Gb": "gigabit", "px": "pixel",
    "dpi": "dot per inch|dots per inch", "fps": "frame per second|frames per second", "MP": "megapixel",
    "ha": "hectare", "ac": "acre", "sqft": "square foot|square feet", "sqm": "square meter",
    "cc": "cubic centimeter", "cu": "cubic unit", "pcs": "piece", "pc": "piece", "doz": "dozen|dozen",
    "%": "percent|percent", "‰": "per thousand|per thousand", "°": "degree",
    "°C": "degree Celsius|degrees Celsius", "°F": "degree Fahrenheit|degrees Fahrenheit",
    "°K": "kelvin|kelvin", "ºC": "degree Celsius|degrees Celsius",
    "ºF": "degree Fahrenheit|degrees Fahrenheit", "º": "degree", "degC": "degree Celsius|degrees Celsius",
    "degF": "degree Fahrenheit|degrees Fahrenheit", "deg": "degree", "ct": "cent",
    "bn": "billion|billion", "mn": "million|million", '"': "inch", "″": "inch", "″ ": "inch",
    "′": "foot|feet", "'": "foot|feet",
}  # fmt: skip
SQUARES = {"²": "square", "2": "square", "³": "cubic", "3": "cubic"}
LENGTHS = words(
    """
    km m dm cm mm in ft yd mi µm nm
    """
)

# Symbol or code -> unit, subunit (None: none in use), each singular or singular|plural.
CURRENCIES = {
    "$": ("dollar", "cent"), "US$": ("U.S dollar", "cent"), "CA$": ("Canadian dollar", "cent"),
    "C$": ("Canadian dollar", "cent"), "A$": ("Australian dollar", "cent"),
    "AU$": ("Australian dollar", "cent"), "NZ$": ("New Zealand dollar", "cent"),
    "HK$": ("Hong Kong dollar", "cent"), "S$": ("Singapore dollar", "cent"),
    "R$": ("real|reais", "centavo"), "NT$": ("Taiwan dollar", "cent"), "MX$": ("Mexican peso", "centavo"),
    "€": ("euro", "cent"), "£": ("pound", "penny|pence"), "¥": ("yen|yen", None),
    "₹": ("rupee", "paisa|paise"), "₽": ("ruble", "kopeck"), "₩": ("won|won", None),
    "₺": ("lira", "kurus|kurus"), "₪": ("shekel", "agora|agorot"), "₫": ("dong|dong", None),
    "₴": ("hryvnia", "kopiyka"), "฿": ("baht|baht", "satang|satang"), "₿": ("bitcoin", None),
    "₱": ("peso", "centavo"), "₦": ("naira|naira", "kobo|kobo"), "₡": ("colon|colones", "centimo"),
    "₵": ("cedi", "pesewa"), "₸": ("tenge|tenge", None), "₼": ("manat", None), "₾": ("lari|lari", None),
    "₭": ("kip|kip", None), "₲": ("guarani", None), "元": ("yuan|yuan", None),
    "zł": ("zloty", "grosz|grosze"), "USD": ("U.S dollar", "cent"), "EUR": ("euro", "cent"),
    "GBP": ("British pound", "penny|pence"), "Rs": ("rupee", "paisa|paise"), "kr": ("krone|kroner",
    "ore|ore"),
    "JPY": ("Japanese yen|Japanese yen", None),
    "CNY": ("Chinese yuan|Chinese yuan", "fen|fen"), "RMB": ("renminbi|renminbi", None),
    "INR": ("Indian rupee", "paisa|paise"), "CHF": ("Swiss franc", "centime"),
    "CAD": ("Canadian dollar", "cent"), "AUD": ("Australian dollar", "cent"),
    "NZD": ("New Zealand dollar", "cent"), "SEK": ("Swedish krona|Swedish kronor", "ore|ore"),
    "NOK": ("Norwegian krone|Norwegian kroner", "ore|ore"),
    "DKK": ("Danish krone|Danish kroner", "ore|ore"), "PLN": ("Polish zloty", "grosz|grosze"),
    "CZK": ("Czech koruna", "haler"), "HUF": ("Hungarian forint", None), "RUB": ("Russian ruble", "kopeck"),
    "TRY": ("Turkish lira", "kurus|kurus"), "BRL": ("Brazilian real|Brazilian reais", "centavo"),
    "MXN": ("Mexican peso", "centavo"), "KRW": ("Korean won|Korean won", None),
    "SGD": ("Singapore dollar", "cent"), "HKD": ("Hong Kong dollar", "cent"),
    "ZAR": ("South African rand|South African rand", "cent"), "ILS": ("Israeli shekel", "agora|agorot"),
    "THB": ("Thai baht|Thai baht", "satang|satang"), "UAH": ("Ukrainian hryvnia", "kopiyka"),
    "BTC": ("bitcoin", None), "ETH": ("ether|ether", None),
}  # fmt: skip
MAGNITUDES = {
    "k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million", "mm": "million",
    "b": "billion", "B": "billion", "bn": "billion", "T": "trillion", "tn": "trillion",
    "thousand": "thousand", "million": "million", "billion": "billion", "trillion": "trillion",
    "hundred": "hundred", "lakh": "lakh", "crore": "crore", "mil": "million",
}  # fmt: skip

TITLES = {
    "Dr": "Doctor", "Mr": "Mister", "Mrs": "Missus", "Ms": "Miz", "Prof": "Professor", "St": "Saint",
    "Mt": "Mount", "Ft": "Fort", "Gen": "General", "Gov": "Governor", "Sen": "Senator",
    "Rep": "Representative", "Capt": "Captain", "Lt": "Lieutenant", "Col": "Colonel", "Sgt": "Sergeant",
    "Cmdr": "Commander", "Rev": "Reverend", "Hon": "Honorable", "Pres": "President",
    "Supt": "Superintendent", "Cpl": "Corporal", "Maj": "Major", "Adm": "Admiral", "Fr": "Father",
    "Msgr": "Monsignor", "Sr": "Sister", "Br": "Brother", "Insp": "Inspector", "Mme": "Madame",
    "Messrs": "Messieurs",
}  # fmt: skip
SPOKEN_TITLES = words(
    """
    Mr Mrs Ms Dr Prof
    """
)
"""Titles that are abbreviations without a dot, too."""
STREETS = {
    "St": "Street", "Dr": "Drive", "Ave": "Avenue", "Av": "Avenue", "Rd": "Road", "Blvd": "Boulevard",
    "Ln": "Lane", "Ct": "Court", "Pl": "Place", "Sq": "Square", "Hwy": "Highway", "Pkwy": "Parkway",
    "Ter": "Terrace", "Cir": "Circle", "Expy": "Expressway", "Rte": "Route",
}  # fmt: skip
# Lower-case key; with a dot in the text unless in DOTLESS.
ABBREVIATIONS = {
    "approx": "approximately", "appt": "appointment", "apt": "apartment", "assn": "association",
    "asst": "assistant", "attn": "attention", "avg": "average", "bldg": "building", "capt": "captain",
    "cf": "compare", "ch": "chapter", "co": "company", "corp": "corporation", "dept": "department",
    "dist": "district", "ed": "edition", "eds": "editors", "est": "estimated", "etc": "et cetera",
    "ext": "extension", "fig": "figure", "figs": "figures", "fwd": "forward", "govt": "government",
    "hosp": "hospital", "inc": "incorporated", "incl": "including", "excl": "excluding",
    "intl": "international", "jr": "junior", "ltd": "limited", "max": "maximum", "mfg": "manufacturing",
    "mgr": "manager", "min": "minimum", "misc": "miscellaneous", "natl": "national", "nr": "number",
    "orig": "original", "para": "paragraph", "pkg": "package", "qty": "quantity", "ref": "reference",
    "rm": "room", "sec": "section", "sr": "senior", "ste": "suite", "tel": "telephone",
    "temp": "temperature", "temps": "temperatures", "univ": "university", "viz": "namely", "vol": "volume",
    "vols": "volumes", "vs": "versus", "v": "versus", "wt": "weight", "yr": "year", "yrs": "years",
    "hr": "hour", "hrs": "hours", "mins": "minutes", "secs": "seconds", "wk": "week", "wks": "weeks",
    "mo": "month", "mos": "months", "lb": "pound", "lbs": "pounds", "oz": "ounces", "ft": "feet",
    "gal": "gallon", "no": "number", "nos": "numbers", "p": "page", "pp": "pages", "art": "article",
    "esp": "especially", "ca": "circa", "resp": "respectively",
    "fl": "floor", "acct": "account", "hwy": "highway", "rte": "route", "ave": "avenue", "blvd": "boulevard",
    "ver": "version", "deg": "degrees",
    "rev": "revision", "tbsp": "tablespoon",
    "tsp": "teaspoon", "hum": "humidity", "batt": "battery", "config": "config",
}  # fmt: skip
DOTLESS = words(
    """
    approx dept govt intl bldg qty vs vs etc excl incl misc appt tbsp tsp pkg mfg hrs mins secs avg temp
    temps ext
    """
)
"""Abbreviations that are none else but that, so that they need no dot."""
BEFORE_NUMBER = words(
    """
    no nos nr p pp ch art fig figs sec vol vols para rm apt ste ext tel ed rev ca
    """
)
"""Abbreviations that are taken as such only before a number."""
DOTTED = {
    "e.g": "for example", "i.e": "that is", "a.k.a": "also known as", "p.s": "P.S",
    "w.r.t": "with respect to", "ph.d": "P.H.D", "m.sc": "M.S.C", "b.sc": "B.S.C", "n.b": "note well",
    "a.s.a.p": "as soon as possible", "et al": "and others",
}  # fmt: skip
SLASHED = {
    "w/": "with", "w/o": "without", "n/a": "not available", "c/o": "care of", "b/c": "because",
    "and/or": "and or", "he/she": "he or she", "she/he": "she or he", "his/her": "his or her",
    "b/w": "between", "a/c": "A.C", "24/7": "",
}  # fmt: skip

INITIALISMS = words(
    """
    AAA AARP ABC ACLU AQI ASP ASPCA BYOB CO EVSE IAEA IAQ NAACP OBD OECD SOC SOH TVOC UCLA UNHCR USAF
    USCG USCIS USGS USMC USPTO
    ABS AC ACL AD ADC ADHD ADSL AED AES AFK AI AKA ALT AMD AP API APU ATM ATV AV AVR AWS BA BBC BBQ BC
    BCE BLE BMI BMW BPM BSD BST BTU BTW CAD CBS CCTV CD CDC CEO CET CEST CFO CGI CI CIA CLI CMS CNC CNN
    COB COO CPR CPU CRC CRT CSI CSS CST CSV CT CTO CV DAB DAC DB DBA DC DHCP DHL DIY DJ DLL DM DMV DMX
    DNA DNS DOB DOS DPD DSL DSP DST DVB DVD DVI DVR ECG EDT EEG EFI EKG EMEA ENT EPA ERP ESA ESP ESPN
    EST ETA ETF EU EV FAQ FBI FCC FDA FM FPS FTP FX FYI GB GDP GDPR GHG GI GMT GPIO GPL GPS GPU GUI HD
    HDD HDMI HDR HIV HPV HQ HR HSV HTML HTTP HTTPS HUD HVAC IBM IC ICBM ICU ID IDE IDK IEEE IIRC IMAP
    IMHO IMO IO IOT IOS IP IPA IQ IR IRC IRS ISO ISP ISS IT ITV IV JFK JS JST KPI KVM LCD LDR LED LG LLC
    LLM LMK LOL LPG LSD LTE LTS MBA MC MCP MCU MD MDT MIT ML MMS MP MPG MPH MQTT MRI MSDS MST MTU MTV
    NAS NBA NBC NCAA NFC NFL NFT NGO NHL NHS NPR NTP NTSC NVR NYC NYPD OEM OLED OMG OS OTA OTC PC PCB
    PCI PCIE PCR PDF PDT PGP PH PHP PHEV PIR PM PMS PNG PO POE POS PPE PPM PR PS PSA PSI PSU PTO PTSD
    PTZ PV PVC PVR PWM QA QC QR QOS RC RCA RCBO RCD RF RFC RFID RGB RGBW RH RIP RN RNA ROI RPC RPM RSS
    RSSI RSVP RTC RTSP RTX RV SCSI SD SDK SEO SFTP SLA SLR SMB SMS SMTP SNMP SOS SPF SPI SQL SSD SSH
    SSID SSL SSR STD SUV SVG TB TBA TBD TCP TFT TGIF THC TLC TLS TOS TTL TTS TTY TV UAE UART UAV UDP
    UEFI UFC UFO UHD UHF UI UK UN UPC UUID GUID ISBN EUR GBP CHF JPY UPNP UPS URI URL US USA USB USD USDA
    USPS UTC UTF UTP UV UX VAT
    VCR VFD VGA VHF VHS VIP VLAN VM VNC VOC VOIP VP VPN VPS VR WC WLAN WMI WPA WPS WTF WWF WWW XML XMPP
    XP XSS YMCA YTD
    """
)
SHOUTED_WORDS = words(
    """
    IT US AM AN AS AT BE BY DO GO HE HI IF IN IS ME MY NO OF OH ON OR SO TO UP WE AD CAD POS RIP EST
    """
)
LOWER_INITIALISMS = words(
    """
    usb hdmi mqtt http https html css csv xml sql sms gps gpu cpu pdf png jpg mp api url uri ssh ssl tls
    tcp udp dns dhcp vpn lcd dvd tv pc pcs rgb rfid nfc faq diy gmt utc www wlan ssd hdd led's dvr cctv
    hvac bbq rssi ssid ntp ftp sftp svg gif's php js ts md5 iot ui ux db isp vm dj cd cds pcb psu pwm
    rpc rss rtsp tts ttl
    """
)
ENTITY_KINDS = words(
    """
    sensor switch light climate cover fan lock camera vacuum person automation script scene weather sun
    zone button
    group timer update siren valve humidifier number select event calendar counter
    """
)
"""What an identifier of home automation begins with: 'climate.bedroom'."""
SPOKEN_CAPS = words(
    """
    AIDS LUX POP STEM MAC ALSA ASAP ASCII BIOS CAPTCHA COVID DOS FIFA FOMO GIF GUI HEPA IKEA JPEG
    JSON LAN LASER MIDI NAFTA NASA NASDAQ NATO NIMBY OPEC OSHA PAL PIN RADAR RAID RAM RGBIC ROM SARS
    SCUBA SIM SONAR SPAM SWAT TASER UNESCO UNICEF VIN WAN WIFI YAML YOLO ZIP OK OKAY
    """
)
# Words of up to three letters that people shout in a line of small letters.
SHORT_WORDS = words(
    """
    A I AM AN AS AT BE BY DO GO HE HI IF IN IS IT ME MY NO OF OH ON OR OX SO TO UP WE AND ANY ARE ASK
    BAD BAG BAR BED BIG BIT BOX BOY BUS BUT BUY CAN CAR CAT CUP CUT DAD DAY DID DOG DRY EAT EGG END FAN
    FAR FEW FIT FIX FLY FOR FUN GAS GET GOT HAD HAS HER HEY HIM HIS HIT HOT HOW ICE ITS JOB KEY KID LAW
    LAY LEG LET LIE LOT LOW MAN MAP MAY MEN MOM MUD NET NEW NIX NOR NOT NOW NUT OFF OIL OLD ONE OUR OUT
    OWN PAY PEN PET POT PUT RAN RAW RED RUN SAD SAT SAW SAY SEA SEE SET SHE SIT SIX SKY SON SUN TAP TAX
    TEA TEN THE TIE TIP TOO TOP TOY TRY TWO USE VAN WAR WAS WAY WET WHO WHY WIN WON YES YET YOU ZOO ALL
    AGO AIR ADD ARM ART AGE LID LOG MAX MIN MIX PIT TEE TIN TUB URN WEB ZIP RIP LAB BAT BEE BIN BUG CAB
    COW CRY DAM DIG DIM DIP EAR EYE FAT FOG FOX FUR GUN HAM HAT HEN HUT INK JAM JAR JET JOY KIT LIP MAD
    MUG NAP OAK ODD OWL PAN PEA PIE PIG PIN PUB RAT RAY ROD ROW RUB RUG SIR SKI SPA SPY TAN TAR TOE VET
    WAX WIG YAK ROT RIM BAN BET BID BOW FED FEE HOP HUG ILL LED MET NOD OPT
    """
)

NUMBERED = words(
    """
    room gate apt apartment suite unit seat flat platform exit building bldg hall class row track bus
    line route house number terminal bay dock locker zone sector block bin aisle desk door floor ward
    studio port pin code extension flight train section box lot lane pier stop channel form model
    version part zip highway interstate
    """
)
"""What is followed by the name of a thing, not by a quantity: no year, no unit."""
CHAPTERS = words(
    """
    chapter part act scene hall war volume section phase type class stage level bowl rocky grade unit
    article appendix book episode season mark apollo fantasy title category schedule step round group
    division factor annex track figure table room line gate corps army area zone star-wars quake edition
    version generation gen platform world quarter tier trial
    """
)
"""What a Roman numeral counts as a cardinal."""
REGNAL = words(
    """
    anne elizabeth henry charles george edward richard william james mary louis napoleon philip
    frederick francis ferdinand peter catherine nicholas alexander ivan paul pius benedict john gregory
    innocent clement leo urban sixtus ramses ptolemy edmund stephen victor umberto juan felipe alfonso
    carlos isabella margaret christian gustav gustavus haakon olav harald oscar carl karl wilhelm
    friedrich franz joseph leopold otto rudolf maximilian albert baudouin willem mehmed murad selim
    suleiman darius xerxes cyrus robert david malcolm constantine justinian theodosius king queen pope
    emperor tsar czar prince sultan kaiser rama
    """
)
MULTIPLES = {2: "squared", 3: "cubed"}
GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron",
    "π": "pi", "ρ": "rho", "ς": "sigma", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi",
    "ψ": "psi", "ω": "omega",
}  # fmt: skip
SYMBOLS = {
    "&": "and", "=": "equals", "≠": "is not equal to", "≈": "about", "~": "about", "<": "less than",
    ">": "greater than", "≤": "less than or equal to", "≥": "greater than or equal to",
    "±": "plus or minus", "×": "times", "÷": "divided by", "√": "square root of", "∞": "infinity",
    "°": "degrees", "%": "percent", "‰": "per thousand", "§": "section", "¶": "paragraph", "©": "copyright",
    "®": "registered", "™": "trademark", "℗": "", "℠": "", "№": "number", "@": "at", "+": "plus",
    "µ": "micro", "∑": "sum of", "∆": "delta", "Δ": "delta", "Ω": "ohms", "∅": "empty", "ª": "",
    "º": "degrees", "−": "minus", "¢": "cents", "⅍": "", "℃": "degrees Celsius", "℉": "degrees Fahrenheit",
}  # fmt: skip
URL_SIGNS = {
    ".": "dot", "/": "slash", "-": "dash", "_": "underscore", "@": "at", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "+": "plus", "%": "percent", "~": "tilde", "\\": "backslash",
    "*": "star", "!": "exclamation mark", "$": "dollar", ";": "semicolon", "'": "", "(": "", ")": "",
    "[": "", "]": "", ",": "comma",
}  # fmt: skip
DOMAINS = words(
    """
    com org net edu gov mil int io ai co uk de fr es it nl be ch at eu us ca au nz jp cn in ru br se no
    dk fi pl cz pt ie info biz dev app me tv fm gg ly to cloud online site shop store tech xyz local lan
    home internal arpa test example localhost
    """
)
SPELLED_DOMAINS = words(
    """
    uk us io ai eu nz jp cn ru br tv fm gg gov's de fr nl es pl cz dk ch
    """
)
FILE_ENDINGS = words(
    """
    yaml yml json txt pdf py sh js ts css html htm xml csv log md conf cfg ini toml jpg jpeg png gif svg
    mp3 mp4 wav ogg flac zip gz tar exe iso db doc docx xls xlsx service onnx bin deb
    """
)
