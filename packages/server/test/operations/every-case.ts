import { expect } from 'vitest';
import type { Outside } from '../fixtures/outside.ts';
import type { TestClient } from '../harness/client.ts';

// What the every-operation suite asks of an operation.

/**
 * An organization of its own: a root user that is the whole quorum, a user without rights, and a stranger elsewhere.
 */
export interface World {
  readonly parent: TestClient;
  readonly root: TestClient;
  readonly plain: TestClient;
  readonly outside: Outside;
}

export interface Arranged {
  readonly parameters: Record<string, unknown>;
  /** Exactly what the result key holds. */
  readonly result: unknown;
  /** Reads the effect back. */
  readonly holds: (reader: TestClient) => Promise<void>;
  /** Shows that nothing has happened yet. */
  readonly absent: (reader: TestClient) => Promise<void>;
}

export interface VersionCase {
  readonly intentKey: string;
  readonly resultKey: string;
  readonly arrange: (world: World) => Promise<Arranged>;
}

export interface ActivityCase extends VersionCase {
  readonly place?: 'parent';
  readonly legacy?: Readonly<Record<string, VersionCase>>;
  /** The same with ids of another organization, and the answer that gets. */
  readonly foreign?: (world: World, other: World) => Promise<{ parameters: unknown; code: string; status: number }>;
  /** `userId` must be the user who proposes it, whoever that is. */
  readonly isForProposer?: true;
  /** It is about the proposer alone, who needs nobody's leave; only a policy can deny it. */
  readonly isOwnBusiness?: true;
  /** After it the organization's own users are gone. */
  readonly endsOrganization?: true;
}

export interface QueryCase {
  readonly place?: 'parent';
  readonly parameters?: (world: World) => Promise<Record<string, unknown>>;
  readonly answer: (world: World) => Record<string, unknown>;
  /** What an id of a sibling's gets, where that is not 404; 200 for what belongs to the whole tree. */
  readonly foreignStatus?: 200 | 400;
  /** It is about a chain, which is the same for everybody. */
  readonly isOfChain?: true;
  /** Exactly what is answered about what nobody has, and about a sibling's, where that is no refusal. */
  readonly foreignAnswer?: Record<string, unknown>;
}

/** About an activity that no case with a rule does, so that the rule has no say in it. */
export const ELSEWHERE = "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS'";

/** What a case of a query has made, for the answer that shows it. */
const kept = new WeakMap<World, Record<string, unknown>>();

export function keep(world: World, params: Record<string, unknown>): Record<string, unknown> {
  kept.set(world, params);
  return params;
}

export const keptOf = (world: World): Record<string, unknown> => kept.get(world) ?? {};

export const withId =
  (name: string, id: (world: World) => string | Promise<string>) =>
  async (world: World): Promise<Record<string, unknown>> => ({ [name]: await id(world) });

/** Nothing is stored by what only answers. */
export const nothing = async (): Promise<void> => {};

/** Something that is there before and not after. */
export function gone(query: string, parameters: Record<string, unknown>): Pick<Arranged, 'holds' | 'absent'> {
  const status = async (reader: TestClient) => (await reader.query(query, parameters)).status;
  return {
    holds: async (reader) => expect(await status(reader)).toBe(404),
    absent: async (reader) => expect(await status(reader)).toBe(200),
  };
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const TIMESTAMP = { seconds: expect.stringMatching(/^\d{10}$/), nanos: expect.stringMatching(/^\d{1,9}$/) };
export const TIMES = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
export const PAGE_INFO = {
  hasNextPage: false,
  hasPreviousPage: false,
  startCursor: expect.any(String),
  endCursor: expect.any(String),
};
export const EMPTY_PAGE = { ...PAGE_INFO, startCursor: '', endCursor: '' };
export const anEthereumAddress = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
export const anId = expect.stringMatching(UUID);

export const notFound = (parameters: unknown) => ({ parameters, status: 404, code: 'RESOURCE_NOT_FOUND' });
