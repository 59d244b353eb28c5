import Type from 'typebox';
import { UUID_PATTERN } from '../../../lib/ids.ts';
import { TimestampShape } from '../../../lib/shapes.ts';

export const Oauth2ProviderShape = Type.Enum(['OAUTH2_PROVIDER_X', 'OAUTH2_PROVIDER_DISCORD'], {
  'x-code': 'INVALID_OAUTH2_PROVIDER',
});

/**
 * A text without which nothing can be done; clients know the refusal by its name in snake case (protocol/login 8.2).
 */
const setShape = (name: string, maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000]*$',
    'x-message': `must be 1 to ${maxLength} characters without U+0000`,
    'x-missing': `${name} must be set`,
  });

export const AuthCodeShape = setShape('auth_code', 4096);
export const RedirectUriShape = setShape('redirect_uri', 4096);
/** RFC 7636 allows 128 characters. */
export const CodeVerifierShape = setShape('code_verifier', 512);
export const NonceShape = setShape('nonce', 512);
/** It becomes the audience of the tokens that are issued for it. */
export const ClientIdShape = setShape('client_id', 255);
export const EncryptedClientSecretShape = setShape('encrypted_client_secret', 16_384);
export const Oauth2CredentialIdShape = Type.String({
  minLength: 1,
  pattern: UUID_PATTERN,
  'x-lower': true,
  'x-message': 'must be an id (UUID)',
  'x-missing': 'oauth2_credential_id must be set',
});

export const Oauth2CredentialShape = Type.Object({
  oauth2CredentialId: Type.String(),
  organizationId: Type.String(),
  provider: Oauth2ProviderShape,
  clientId: Type.String(),
  encryptedClientSecret: Type.String(),
  createdAt: TimestampShape,
  updatedAt: TimestampShape,
});
