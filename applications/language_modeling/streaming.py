"""A continuation while it is written, piece by piece."""

import queue
import threading
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from applications.language_modeling.continuation import Continuation

_UNFINISHED = "\N{REPLACEMENT CHARACTER}"  # of a character some bytes are missing


class Stream:
    """Tells what a search writes as soon as it is certain.

    The search is the very one of `Continuation`, inside the graph; its step hands on
    each token it reads. A beam search is certain of nothing before its end, so its
    text comes in one piece.

    Args:
        continuation: The model and its searches.
        search: Which of them.
    """

    def __init__(self, continuation: Continuation, search: str) -> None:
        self._continuation = continuation
        self._tokens = continuation.tokens
        self._search = search
        self._queue: queue.Queue = queue.Queue()
        self._run = tf.function(
            self._written,
            input_signature=[
                tf.TensorSpec([1], tf.string),
                tf.TensorSpec([], tf.int32),
            ],
            autograph=False,  # loops are the search's own
        )

    def __call__(self, text: str, seed: int) -> Iterator[str]:
        """The pieces of the continuation of one text."""
        arguments = tf.constant([text]), tf.constant(seed)
        worker = threading.Thread(target=self._work, args=arguments)
        worker.start()
        try:
            yield from self._pieces(text)
        finally:  # where nobody listens any more, too
            worker.join()
            self._queue = queue.Queue()

    def _work(self, *arguments: tf.Tensor) -> None:
        """Runs the search; ends the queue with all tokens, or with what went wrong."""
        try:
            self._queue.put(self._run(*arguments).numpy().tolist())
        except Exception as error:
            self._queue.put(error)

    def _written(self, text: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        prompts = self._continuation.prompts(text)
        step = None if self._search == "beam" else self._telling_step
        found = self._continuation.search(prompts, self._search, seed, step)
        return found.tokens[0, 0]

    def _telling_step(self, tokens: tf.Tensor, state: Any) -> tuple[tf.Tensor, Any]:
        told = tf.py_function(self._tell, [tokens[0]], [])
        with tf.control_dependencies([told]):
            tokens = tf.identity(tokens)
        return self._continuation.model.step(tokens, state)

    def _tell(self, token: tf.Tensor) -> None:
        self._queue.put(int(token))

    def _pieces(self, text: str) -> Iterator[str]:
        """What each token adds to what is certain already."""
        prompts = self._continuation.prompts(tf.constant([text]))
        ids: list[int] = []
        shown, is_prompt = "", True
        while True:
            told = self._queue.get()
            if isinstance(told, Exception):
                raise told
            ended = isinstance(told, list)
            if ended:
                ids = told
            elif is_prompt:  # its last token is the first that is read
                is_prompt = False
                continue
            else:
                ids.append(told)
            added = self._continuation.added(prompts, tf.constant([ids], tf.int32))
            whole = added.numpy()[0].decode("utf-8", "replace")
            if ended or not whole.endswith(_UNFINISHED):
                yield whole[len(shown) :]
                shown = whole
            if ended:
                return
