import type { FastifyInstance } from 'fastify';
import type { IssuerKey } from './key-set.ts';

/** The issuer that this service is itself: it signs the tokens of oauth2_authenticate (protocol/login 8.3). */
export interface OwnIssuer {
  readonly issuer: string;
  readonly keys: readonly OwnKey[];
}

export interface OwnKey {
  readonly keyId: string;
  /** An uncompressed P-256 point in hexadecimal. */
  readonly publicKey: string;
}

const KEY_SET_PATH = '/.well-known/jwks.json';
const ALGORITHM = 'ES256';

/** OpenID Connect Discovery 1.0, section 3, as far as it is true: an activity issues the tokens, not an endpoint. */
export function discoveryDocument(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer.replace(/\/$/, '')}${KEY_SET_PATH}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [ALGORITHM],
    claims_supported: ['iss', 'sub', 'aud', 'nonce', 'iat', 'exp', 'encrypted_bearer_token'],
  };
}

/** Our keys as everybody else reads them (RFC 7517, RFC 7518 section 6.2.1). */
export function jwksOf(keys: readonly OwnKey[]) {
  return {
    keys: keys.map(({ keyId, publicKey }) => ({ ...toJwk(publicKey), kid: keyId, use: 'sig', alg: ALGORITHM })),
  };
}

/** Our keys as the verifier takes them. */
export const ownIssuerKeys = ({ keys }: OwnIssuer): readonly IssuerKey[] =>
  keys.map(({ keyId, publicKey }) => ({ kid: keyId, alg: ALGORITHM, jwk: toJwk(publicKey) }));

/** Public, and the same for every origin: whoever holds one of our tokens may check it. */
export function addIssuerRoutes(server: FastifyInstance, own: () => OwnIssuer): void {
  const serve = (path: string, document: (own: OwnIssuer) => object): void => {
    server.get(path, (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=300')
        .header('access-control-allow-origin', '*')
        .send(document(own())),
    );
  };
  serve('/.well-known/openid-configuration', ({ issuer }) => discoveryDocument(issuer));
  serve(KEY_SET_PATH, ({ keys }) => jwksOf(keys));
}

function toJwk(publicKey: string): { kty: string; crv: string; x: string; y: string } {
  const coordinate = (start: number): string =>
    Buffer.from(publicKey.slice(start, start + 64), 'hex').toString('base64url');
  return { kty: 'EC', crv: 'P-256', x: coordinate(2), y: coordinate(66) };
}
