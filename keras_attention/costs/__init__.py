"""What a model costs: parameters, multiply-adds, memory, and how they grow."""

from keras_attention.costs.reporting import Report, Row, report

__all__ = ["Report", "Row", "report"]
