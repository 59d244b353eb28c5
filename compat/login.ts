// What the tests of logins need around the public packages: messages as they arrive, the service's keys, sessions.
import { type ApiKeyStamper, SignatureFormat } from '@turnkey/api-key-stamper';
import { ApiKeyStamper as Stamper } from '@turnkey/api-key-stamper';
import { getClientSignatureMessageForLogin } from '@turnkey/core';
import { encryptOtpCodeToBundle, verifySessionJwtSignature } from '@turnkey/crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { expect, vi } from 'vitest';
import { type KeyPair, newKeyPair, type TestClient } from '../packages/server/test/harness/client.ts';
