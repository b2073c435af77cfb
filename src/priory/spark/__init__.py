"""Spark: learn and predict on a cluster, what one machine would learn and predict."""

from __future__ import annotations

from priory.spark.judging import evaluate
from priory.spark.predicting import predict, register
from priory.spark.streaming import learn_batch, update_stream
from priory.spark.training import forget, road_of, train, update

__all__ = [
    "evaluate",
    "forget",
    "learn_batch",
    "predict",
    "register",
    "road_of",
    "train",
    "update",
    "update_stream",
]
