"""Ask a server on a port as a client of Triton does; run by test_server.py."""

import json
import sys

import numpy as np
import tritonclient.http as triton


def main(port):
    with triton.InferenceServerClient(f"127.0.0.1:{port}") as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("one")
        assert client.get_model_metadata("one")["outputs"][0]["shape"] == [-1, 3]
        texts = np.array(["the train was late", "hot \u00fc"], dtype=object)
        for binary in (True, False):
            given = triton.InferInput("text", [2], "BYTES")
            given.set_data_from_numpy(texts, binary_data=binary)
            wanted = [triton.InferRequestedOutput(name, binary_data=binary) for name in ("probabilities", "labels")]
            found = client.infer("one", [given], outputs=wanted, request_id="7")
            assert found.as_numpy("probabilities").shape == (2, 3)
            assert [json.loads(told) for told in found.as_numpy("labels")] == [["late"], ["hot"]]
            assert found.get_response()["id"] == "7"
        given = triton.InferInput("text", [2, 1], "BYTES")
        given.set_data_from_numpy(texts.reshape(2, 1))
        assert client.infer("two", [given]).as_numpy("confidence").shape == (2,)
        wrong = triton.InferInput("words", [1], "BYTES")
        wrong.set_data_from_numpy(texts[:1])
        try:
            client.infer("one", [wrong])
        except triton.InferenceServerException as error:
            assert "needed" in str(error), error
        else:
            raise AssertionError("a tensor of another name was taken")


if __name__ == "__main__":
    main(int(sys.argv[1]))
