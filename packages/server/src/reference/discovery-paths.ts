import { FEED_PATH } from '../engine/feed/open-feed.ts';
import { LIMITS } from '../lib/limits.ts';
import { VERSION } from '../lib/version.ts';

type Json = Record<string, unknown>;

const text = { type: 'string' };
const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: 'object',
  required,
  properties,
});
const listOf = (items: Json): Json => ({ type: 'array', items });

/** A GET that anybody may ask for; nothing is stamped. */
const get = (
  operationId: string,
  summary: string,
  schema: Json,
  example: unknown,
  type = 'application/json',
): Json => ({
  get: {
    operationId,
    summary,
    security: [],
    responses: { 200: { description: 'Here it is', content: { [type]: { schema, example } } } },
  },
});

const JWK = object({ kty: text, crv: text, x: text, y: text, kid: text, use: text, alg: text }, ['kty', 'kid', 'alg']);
const EXAMPLE_JWK = {
  kty: 'EC',
  crv: 'P-256',
  x: 'axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY',
  y: 'T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU',
  kid: '3f9c2b7d5e1a4860',
  use: 'sig',
  alg: 'ES256',
};

const unavailable = (schema: Json, example: unknown): Json => ({
  503: { description: 'Not ready: come again', content: { 'application/json': { schema, example } } },
});

const STATUS = object({ status: { type: 'string', enum: ['ready', 'unavailable'] } });

function ready(): Json {
  const checks = { type: 'object', additionalProperties: { type: 'boolean' } };
  const reasons = { type: 'object', additionalProperties: text };
  const schema = { ...STATUS, properties: { ...(STATUS['properties'] as Json), checks, reasons } };
  const { get: described } = get(
    'ready',
    'Whether the service can do its work. A local caller also sees which part cannot.',
    schema,
    {
      status: 'ready',
    },
  ) as { get: { responses: Json } };
  return {
    get: { ...described, responses: { ...described.responses, ...unavailable(schema, { status: 'unavailable' }) } },
  };
}

const FEED_LINE = {
  type: 'object',
  description: 'One line: an event, a sign of life, or the end.',
  properties: {
    cursor: text,
    event: {
      type: 'object',
      required: ['kind'],
      properties: {
        kind: { type: 'string', enum: ['ACTIVITY', 'SEND', 'WEBHOOK_DELIVERY', 'GAP'] },
        activityId: text,
        type: text,
        status: text,
        sendTransactionStatusId: text,
        deliveryId: text,
        endpointId: text,
        state: text,
        updatedAt: text,
      },
    },
    now: text,
    end: object({ code: text, message: text }),
  },
};

/** The one stream; it is stamped as a query is. */
export const feedPaths: Json = {
  [FEED_PATH]: {
    post: {
      operationId: 'feed',
      summary: 'What changes in the organization, line by line, for as long as the connection is open.',
      'x-custos-addition': true,
      'x-body-limit-bytes': LIMITS.defaultBodyBytes,
      security: [{ stamp: [] }, { webauthn: [] }, { session: [] }],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: object({ organizationId: text, cursor: text }, ['organizationId']),
            example: { organizationId: '018f3f6e-1f7c-7d0a-9d53-3a5c8f2b4e10' },
          },
        },
      },
      responses: {
        200: {
          description: 'The stream',
          content: {
            'application/x-ndjson': {
              schema: FEED_LINE,
              example: { cursor: 'WyJzcWxpdGUiLDE3OTQ5MzEyMDAwMDAsWzQyXV0', now: '2026-11-17T16:00:00.000Z' },
            },
          },
        },
        default: { $ref: '#/components/responses/Error' },
      },
    },
  },
};

/** Everything that is served by GET without a stamp. */
export const discoveryPaths: Json = {
  '/healthz': get('health', 'Whether the process is alive.', object({ status: text, version: text }), {
    status: 'alive',
    version: VERSION,
  }),
  '/readyz': ready(),
  '/metrics': get(
    'metrics',
    'Figures for Prometheus; for callers on this machine only, others get 404.',
    text,
    '# TYPE custos_requests_total counter',
    'text/plain',
  ),
  '/openapi.json': get('openapi', 'This document.', { type: 'object' }, { openapi: '3.1.0' }),
  '/public/v1/discovery/keys': get(
    'discovery_keys',
    'The public keys of this service that clients must trust.',
    object({ keys: listOf(object({ role: text, publicKey: text, encoding: text, keyId: text })) }),
    {
      keys: [
        {
          role: 'session-signer',
          publicKey: '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
          encoding: 'sec1-compressed-hex',
          keyId: '3f9c2b7d5e1a4860',
        },
      ],
    },
  ),
  '/public/v1/discovery/webhooks/jwks': get(
    'webhook_keys',
    'The keys that sign webhooks, as a JSON Web Key Set.',
    object({ keys: listOf(JWK) }),
    { keys: [EXAMPLE_JWK] },
  ),
  '/.well-known/openid-configuration': get(
    'openid_configuration',
    'Discovery document of the issuer that this service is.',
    object({
      issuer: text,
      jwks_uri: text,
      response_types_supported: listOf(text),
      subject_types_supported: listOf(text),
      id_token_signing_alg_values_supported: listOf(text),
      claims_supported: listOf(text),
    }),
    {
      issuer: 'https://keys.example',
      jwks_uri: 'https://keys.example/.well-known/jwks.json',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      claims_supported: ['iss', 'sub', 'aud', 'nonce', 'iat', 'exp', 'encrypted_bearer_token'],
    },
  ),
  '/.well-known/jwks.json': get('issuer_keys', 'The keys of that issuer.', object({ keys: listOf(JWK) }), {
    keys: [EXAMPLE_JWK],
  }),
  '/invitation': get(
    'invitation_page',
    'The page that a mailed invitation leads to.',
    text,
    '<!doctype html>…',
    'text/html',
  ),
  '/': get('welcome_page', 'What this server is and where to go.', text, '<!doctype html>…', 'text/html'),
};
