# SPDX-License-Identifier: Apache-2.0
"""Object storage as folders, path style: /bucket/key."""

import pathlib
import shutil
import urllib.parse

from errors import validation


class ObjectStore:
    def __init__(self, root):
        self.root = pathlib.Path(root) / "s3"
        self.root.mkdir(parents=True, exist_ok=True)

    def path(self, bucket, key):
        path = (self.root / bucket / key).resolve()
        if self.root.resolve() not in path.parents:
            raise validation("The key leaves its bucket")
        return path

    @staticmethod
    def _split(uri):
        parsed = urllib.parse.urlparse(uri)
        return parsed.netloc, parsed.path.lstrip("/")

    def check_prefix(self, uri, role):
        bucket, key = self._split(uri)
        if not self._matches(bucket, key):
            raise validation(
                f'No S3 objects found under S3 URL "{uri}" given in input data source. Please ensure that '
                "the bucket exists in the selected region (us-east-1), that objects exist under that S3 "
                f'prefix, and that the role "{role}" has "s3:ListBucket" permissions on bucket "{bucket}".')

    def _matches(self, bucket, prefix):
        folder = self.root / bucket
        if not folder.exists():
            return []
        keys = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        return sorted(key for key in keys if key.startswith(prefix))

    def copy_prefix(self, uri, destination):
        bucket, prefix = self._split(uri)
        base = prefix if prefix.endswith("/") or not prefix else prefix.rpartition("/")[0] + "/"
        for key in self._matches(bucket, prefix):
            name = key[len(base):] if key.startswith(base) else key
            target = destination / (name or pathlib.PurePath(key).name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.root / bucket / key, target)

    def handle(self, method, raw_path, query, body):
        """Returns (status, headers, body) for the few operations that a tuner needs."""
        bucket, _, key = urllib.parse.unquote(raw_path).lstrip("/").partition("/")
        if method == "PUT":
            path = self.path(bucket, key)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            return 200, {}, b""
        if method == "GET" and not key:
            prefix = dict(urllib.parse.parse_qsl(query)).get("prefix", "")
            entries = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in self._matches(bucket, prefix))
            listing = f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>"
            return 200, {"Content-Type": "application/xml"}, listing.encode()
        path = self.path(bucket, key)
        if not path.is_file():
            return 404, {"Content-Type": "application/xml"}, b"<Error><Code>NoSuchKey</Code></Error>"
        if method == "DELETE":
            path.unlink()
            return 204, {}, b""
        return 200, {}, path.read_bytes() if method == "GET" else b""
