import { existsSync, readFileSync } from 'node:fs';
import Type, { type TSchema } from 'typebox';
import { type InvitationCall, invitationCalls } from '../domains/organizations/invitations/calls.ts';
import { proxyCalls, proxyPathOf } from '../domains/sign-up-proxy/calls.ts';
import type { ProxyCall } from '../domains/sign-up-proxy/define.ts';
import type { ActivityOperation, Operation } from '../engine/define.ts';
import { ERROR_CODES } from '../lib/error-codes.ts';
import { operations, pathOf } from '../registry.ts';
import { discoveryPaths, feedPaths } from './discovery-paths.ts';
import { exampleAnswer, exampleBody, exampleCallBody, exampleReply } from './examples.ts';
import { SHARED_SHAPES, sharedNameOf } from './shared-shapes.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of everything the registry serves. */
export function openApi(): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Custos',
      version: version(),
      description:
        'Self-hosted key management and wallet custody. Operations are POSTs of JSON whose exact bytes are stamped (header X-Stamp or X-Stamp-WebAuthn); what needs no stamp says so. Operations marked x-custos-addition are ours; the others follow the wire protocol of the public SDKs. A body above x-body-limit-bytes is refused with 413 BODY_TOO_LARGE.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8080' }],
    security: [{ stamp: [] }, { webauthn: [] }],
    paths: {
      ...discoveryPaths,
      ...feedPaths,
      ...Object.fromEntries([
        ...operations.map((operation) => [pathOf(operation), { post: describeOperation(operation) }] as const),
        ...invitationCalls.map((call) => [call.path, { post: describeInvitationCall(call) }] as const),
        ...proxyCalls.map((call) => [proxyPathOf(call), { post: describeProxyCall(call) }] as const),
      ]),
    },
    components: {
      securitySchemes: {
        stamp: { type: 'apiKey', in: 'header', name: 'X-Stamp' },
        webauthn: { type: 'apiKey', in: 'header', name: 'X-Stamp-WebAuthn' },
        attested: { type: 'apiKey', in: 'header', name: 'X-Stamp-Attested' },
        session: { type: 'apiKey', in: 'header', name: 'X-Session' },
        authProxyConfig: { type: 'apiKey', in: 'header', name: 'X-Auth-Proxy-Config-Id' },
      },
      schemas: {
        ...Object.fromEntries(Object.entries(SHARED_SHAPES).map(([name, schema]) => [name, toPlain(schema)])),
        Error: ERROR,
      },
      responses: {
        Error: {
          description: 'Refused, with the reason.',
          content: json({ $ref: '#/components/schemas/Error' }, EXAMPLE_ERROR),
        },
      },
    },
  };
}

const ERROR: Json = {
  type: 'object',
  required: ['code', 'message', 'details', 'errorCode'],
  properties: {
    code: { type: 'integer', description: 'gRPC status number' },
    message: { type: 'string' },
    details: { type: 'array', items: { type: 'object', additionalProperties: true } },
    errorCode: { type: 'string', enum: Object.keys(ERROR_CODES) },
    turnkeyErrorCode: { type: 'string', description: 'the same code, while vendor names are on' },
  },
};

const EXAMPLE_ERROR: Json = {
  code: 3,
  message: 'parameters.walletName is required',
  details: [],
  errorCode: 'REQUEST_INVALID',
  turnkeyErrorCode: 'REQUEST_INVALID',
};

const json = (schema: Json, example?: unknown): Json => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});

/** A login, and the approval by which a user proves a factor (protocol/stamps 5.4). */
const takesAttested = (operation: Operation): boolean =>
  operation.kind === 'activity'
    ? operation.accepts.attested
    : operation.kind === 'vote' && operation.selection === 'VOTE_SELECTION_APPROVED';

function describeOperation(operation: Operation): Json {
  return {
    operationId: operation.name,
    summary: operation.summary,
    ...(operation.ours && { 'x-custos-addition': true }),
    'x-body-limit-bytes': operation.bodyLimit,
    ...(operation.kind === 'query' && { security: [{ stamp: [] }, { webauthn: [] }, { session: [] }] }),
    ...(takesAttested(operation) && { security: [{ stamp: [] }, { webauthn: [] }, { attested: [] }] }),
    ...(operation.kind === 'activity' && { 'x-activity-types': operation.versions.map(describeVersion) }),
    requestBody: { required: true, content: json(requestSchema(operation), exampleBody(operation)) },
    responses: {
      200: { description: 'Done', content: json(responseSchema(operation), exampleAnswer(operation)) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

/** A call of the sign-up proxy: no stamp, but the id of its configuration. */
function describeProxyCall(call: ProxyCall): Json {
  const captcha = { name: 'X-Captcha-Token', in: 'header', required: false, schema: { type: 'string' } };
  return {
    operationId: `proxy_${call.name}`,
    summary: call.summary,
    'x-body-limit-bytes': call.bodyLimit,
    security: [{ authProxyConfig: [] }],
    ...(call.needsCaptcha && {
      parameters: [{ ...captcha, description: 'Needed where the configuration has turned the captcha on.' }],
    }),
    requestBody: { required: !call.takesNothing, content: json(toPlain(call.body), exampleCallBody(call.body)) },
    responses: {
      200: { description: 'Done', content: json(toPlain(call.reply), exampleReply(call.reply)) },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

/** A call of an invited person: no stamp, but the secret of the link in the body. */
const describeInvitationCall = (call: InvitationCall): Json => ({
  operationId: call.name,
  summary: call.summary,
  'x-custos-addition': true,
  'x-body-limit-bytes': call.bodyLimit,
  security: [],
  requestBody: { required: true, content: json(toPlain(call.body), exampleCallBody(call.body)) },
  responses: {
    200: { description: 'Done', content: json(toPlain(call.reply), exampleReply(call.reply)) },
    default: { $ref: '#/components/responses/Error' },
  },
});

const describeVersion = ({ type, intentKey, resultKey }: ActivityOperation['versions'][number]): Json => ({
  type,
  intentKey,
  resultKey,
});

function requestSchema(operation: Operation): Json {
  switch (operation.kind) {
    case 'query':
      return toPlain(operation.schema);
    case 'vote':
      return envelope(operation.type, operation.schema);
    case 'activity': {
      const schemas = operation.versions.map((version) => envelope(version.type, version.schema));
      return schemas.length === 1 ? (schemas[0] as Json) : { oneOf: schemas };
    }
  }
}

/** protocol/stamps 8.2. */
function envelope(type: string, parameters: TSchema): Json {
  return toPlain(
    Type.Object({
      type: Type.Literal(type),
      timestampMs: Type.String(),
      organizationId: Type.String(),
      parameters,
      generateAppProofs: Type.Optional(Type.Boolean()),
    }),
  );
}

function responseSchema(operation: Operation): Json {
  if (operation.kind === 'query') return toPlain(operation.response);
  const activity: Json = { $ref: '#/components/schemas/Activity' };
  if (operation.kind === 'vote') return { type: 'object', required: ['activity'], properties: { activity } };
  const results = {
    type: 'object',
    properties: Object.fromEntries(operation.versions.map(({ resultKey, result }) => [resultKey, toPlain(result)])),
  };
  return {
    type: 'object',
    required: ['activity'],
    properties: { activity: { allOf: [activity, { type: 'object', properties: { result: results } }] } },
  };
}

/** JSON Schema without the keys that only our decoder reads, and with references to the shapes that have a name. */
function toPlain(schema: unknown): Json {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => {
      if (key.startsWith('x-')) return undefined;
      // The empty key is the schema itself, which a reference to itself would not describe.
      const name = key === '' ? undefined : sharedNameOf(value);
      return name === undefined ? value : { $ref: `#/components/schemas/${name}` };
    }),
  ) as Json;
}

/** Built files are put together, so that this one may be anywhere below the package's own folder. */
function version(folder = new URL('.', import.meta.url)): string {
  const manifest = new URL('package.json', folder);
  if (!existsSync(manifest)) return version(new URL('..', folder));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
