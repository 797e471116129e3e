# SPDX-License-Identifier: Apache-2.0
"""Verifies Signature Version 4, independently of any client, from the specification."""

import datetime
import hashlib
import hmac
import re
import urllib.parse

from errors import ServiceError

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<date>\d{8})/(?P<region>[^/]+)/(?P<service>[^/]+)"
    r"/aws4_request,\s*SignedHeaders=(?P<headers>[^,]+),\s*Signature=(?P<signature>[0-9a-f]{64})$")
MAX_SKEW_S = 300


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def _canonical_query(query):
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    quote = lambda text: urllib.parse.quote(text, safe="-_.~")
    return "&".join(sorted(f"{quote(key)}={quote(value)}" for key, value in pairs))


def verify(method, raw_path, query, headers, body, keys, wall_time_s):
    """Checks that the request is signed by one of `keys` (id -> secret, or (secret, token, expiration)) within the
    permitted skew; otherwise raises the service's own error. Returns the service for which it is signed."""
    match = AUTHORIZATION.match(headers.get("Authorization", ""))
    if not match:
        raise ServiceError("MissingAuthenticationTokenException", "Missing Authentication Token", 403)
    entry = keys.get(match["key"])
    if entry is None:
        raise ServiceError("UnrecognizedClientException",
                           "The security token included in the request is invalid.", 403)
    secret, token, expiration = entry if isinstance(entry, tuple) else (entry, None, None)
    if token is not None and headers.get("X-Amz-Security-Token") != token:
        raise ServiceError("UnrecognizedClientException",
                           "The security token included in the request is invalid.", 403)
    if expiration is not None and wall_time_s > expiration:
        raise ServiceError("ExpiredTokenException",
                           "The security token included in the request is expired", 403)
    date = headers.get("X-Amz-Date", "")
    try:
        signed_at = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(
            tzinfo=datetime.timezone.utc).timestamp()
    except ValueError:
        raise ServiceError("IncompleteSignature", "Date must be in ISO-8601 'basic format'.", 403)
    if abs(signed_at - wall_time_s) > MAX_SKEW_S:
        raise ServiceError("InvalidSignatureException", f"Signature not yet current or expired: {date}", 403)

    names = match["headers"].split(";")
    for required in ("host", "x-amz-date"):
        if required not in names:
            raise ServiceError("InvalidSignatureException", f"'{required}' must be a signed header", 403)
    canonical_headers = "".join(
        f"{name}:{' '.join(','.join(headers.get_all(name, [])).split())}\n" for name in names)
    payload_hash = hashlib.sha256(body).hexdigest()
    if match["service"] == "s3":
        payload_hash = headers.get("X-Amz-Content-Sha256", "missing")
        if payload_hash not in ("UNSIGNED-PAYLOAD", hashlib.sha256(body).hexdigest()):
            raise ServiceError("XAmzContentSHA256Mismatch", "The provided hash does not match.", 400)
        path = raw_path
    else:
        path = urllib.parse.quote(raw_path, safe="/-_.~")
    canonical = "\n".join([method, path, _canonical_query(query), canonical_headers,
                           match["headers"], payload_hash])
    scope = f"{match['date']}/{match['region']}/{match['service']}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = _hmac(("AWS4" + secret).encode(), match["date"])
    for part in (match["region"], match["service"], "aws4_request"):
        key = _hmac(key, part)
    if not hmac.compare_digest(_hmac(key, to_sign).hex(), match["signature"]):
        raise ServiceError("InvalidSignatureException",
                           "The request signature we calculated does not match the signature you provided.", 403)
    return match["service"]
