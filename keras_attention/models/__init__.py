"""Whole models built from the layers."""

from keras_attention.models.attention_cnn import AttentionCNN
from keras_attention.models.attention_regressor import AttentionRegressor
from keras_attention.models.causal_lm import CausalLM
from keras_attention.models.image_captioner import ImageCaptioner
from keras_attention.models.masked_lm import MaskedLM
from keras_attention.models.pointer_generator import PointerGenerator
from keras_attention.models.recurrent_seq2seq import RecurrentSeq2Seq
from keras_attention.models.sequence_recommender import (
    SequenceRecommender,
    hide_items,
)
from keras_attention.models.sound_classifier import SoundClassifier
from keras_attention.models.speech_recognizer import SpeechRecognizer
from keras_attention.models.text_classifier import TextClassifier
from keras_attention.models.transformer_seq2seq import TransformerSeq2Seq
from keras_attention.models.vision_transformer import VisionTransformer

__all__ = [
    "AttentionCNN",
    "AttentionRegressor",
    "CausalLM",
    "ImageCaptioner",
    "MaskedLM",
    "PointerGenerator",
    "RecurrentSeq2Seq",
    "SequenceRecommender",
    "SoundClassifier",
    "SpeechRecognizer",
    "TextClassifier",
    "TransformerSeq2Seq",
    "VisionTransformer",
    "hide_items",
]
