"""Verifies a Remote-Token with PyJWT: the signature, who issued it, for whom, and until when.

    python3 examples/verify.py JWKS_URL ISSUER AUDIENCE <tokens

ISSUER is Latchkey's APP_URL, AUDIENCE the origin at which browsers reach the application. Prints the claims of each
line's token.
"""

import json
import sys

import jwt


def verifier(jwks_url, issuer, audience):
    """The function that returns the claims of a token, and raises jwt.PyJWTError for one that is not valid."""
    keys = jwt.PyJWKClient(jwks_url)  # fetches them when it needs one, and keeps them for five minutes

    def verify(token):
        key = keys.get_signing_key_from_jwt(token).key
        options = {"require": ["exp", "iss", "aud", "sub"]}
        return jwt.decode(
            token, key, algorithms=["ES256"], issuer=issuer, audience=audience, leeway=5, options=options
        )

    return verify


if __name__ == "__main__":
    verify = verifier(*sys.argv[1:])
    for line in sys.stdin:
        try:
            print(json.dumps(verify(line.strip())))
        except jwt.PyJWTError as error:
            print(f"refused: {type(error).__name__}")
