import type { Passage } from '../admission/passage.ts';
import { sha256Hex } from '../lib/encoding.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import { isUuid, type OrganizationId } from '../lib/ids.ts';
import { LIMITS } from '../lib/limits.ts';
import { type JsonValue, parseStrictJson } from '../lib/strict-json.ts';

/** A request as the HTTP layer hands it over: bytes and headers, nothing decided. */
export interface RawRequest {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Where it came from; undefined when a trusted proxy did not say. */
  readonly clientAddress: string | undefined;
  /** True for what the sign-up proxy asks for with its own key; nothing from outside can set it. */
  readonly byService?: boolean;
  /** Its way through admission; what the service asks of itself has none. */
  readonly passage?: Passage;
}

/** Of the work that a body makes, whatever its bytes. */
export const BODY_BOUNDS = { values: LIMITS.bodyValues, names: LIMITS.bodyNames };

type JsonObject = { readonly [key: string]: JsonValue };

export interface QueryBody {
  readonly fields: JsonObject;
  readonly organizationId: OrganizationId;
}

/** The envelope of a submit (protocol/stamps 8.2), parameters not yet looked at. */
export interface SubmitBody {
  readonly type: string;
  readonly timestampMs: number;
  readonly organizationId: OrganizationId;
  readonly parameters: JsonObject;
  readonly fingerprint: string;
  readonly wantsProofs: boolean;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parseObject(body: Uint8Array): JsonObject {
  const value = parseStrictJson(body, BODY_BOUNDS);
  if (!isObject(value)) throw new ApiError('REQUEST_INVALID', 'the body must be a JSON object');
  return value;
}

function organizationIdOf(fields: JsonObject): OrganizationId {
  const value = fields['organizationId'];
  if (value === undefined || value === null) throw invalidField('organizationId', 'is required');
  if (typeof value !== 'string') throw invalidField('organizationId', 'must be a string');
  const id = value.toLowerCase();
  if (!isUuid(id)) throw invalidField('organizationId', 'must be an id (UUID)', 'INVALID_ORGANIZATION_ID');
  return id as OrganizationId;
}

export function parseQueryBody(body: Uint8Array): QueryBody {
  const fields = parseObject(body);
  // A stamp covers bytes, not the path: no stamped query may double as a submit (protocol/stamps 8.1).
  if (Object.hasOwn(fields, 'type')) throw invalidField('type', 'a query body has no type');
  return { fields, organizationId: organizationIdOf(fields) };
}

export function parseSubmitBody(body: Uint8Array): SubmitBody {
  const fields = parseObject(body);
  const { type, timestampMs, parameters, generateAppProofs } = fields;
  if (typeof type !== 'string') throw invalidField('type', type == null ? 'is required' : 'must be a string');
  const organizationId = organizationIdOf(fields);
  const timestamp =
    typeof timestampMs === 'number' && Number.isSafeInteger(timestampMs) ? String(timestampMs) : timestampMs;
  if (timestamp === undefined || timestamp === null) throw invalidField('timestampMs', 'is required');
  if (typeof timestamp !== 'string' || !/^[0-9]{1,15}$/.test(timestamp)) {
    throw invalidField('timestampMs', 'must be milliseconds since 1970 as a decimal string');
  }
  if (!isObject(parameters)) throw invalidField('parameters', parameters == null ? 'is required' : 'must be an object');
  // Clients put it in either place (protocol/stamps 8.2).
  const asked = [generateAppProofs, parameters.generateAppProofs];
  if (asked.some((value) => value !== undefined && value !== null && typeof value !== 'boolean')) {
    throw invalidField('generateAppProofs', 'must be a boolean');
  }
  return {
    type,
    timestampMs: Number(timestamp),
    organizationId,
    parameters,
    fingerprint: `sha256:${sha256Hex(body)}`,
    wantsProofs: asked.includes(true),
  };
}

/** Whether a body is recent enough to start an activity or to carry a vote (protocol/stamps 8.3). */
export const isLive = (timestampMs: number, nowMs: number): boolean =>
  timestampMs > nowMs - LIMITS.liveBeforeMs && timestampMs <= nowMs + LIMITS.liveAfterMs;

export function requireLive(timestampMs: number, nowMs: number): void {
  if (!isLive(timestampMs, nowMs)) {
    throw invalidField(
      'timestampMs',
      'the request is not live: it must be less than an hour old and at most five minutes ahead',
    );
  }
}
