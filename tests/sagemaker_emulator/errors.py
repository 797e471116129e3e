# SPDX-License-Identifier: Apache-2.0
"""Error responses with the service's texts."""


class ServiceError(Exception):
    """An error response. Codes that the service's API model defines have the text in `Message`, other codes in `message`."""

    def __init__(self, code, message, status=400):
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status

    def body(self):
        modelled = self.code in ("ResourceInUse", "ResourceLimitExceeded", "ResourceNotFound")
        return {"__type": self.code, ("Message" if modelled else "message"): self.message}


def validation(message):
    return ServiceError("ValidationException", message)


def not_found():
    # The real service does not use the code ResourceNotFound here.
    return validation("Requested resource not found.")
