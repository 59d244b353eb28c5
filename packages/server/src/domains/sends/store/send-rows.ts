import { type Kysely, type Selectable, sql } from 'kysely';
import type { Send, SendBlock, SendProgress, SendPurpose } from '../../../chains/send/model.ts';
import type { SendState } from '../../../chains/settings.ts';
import { chunks } from '../../../lib/collections.ts';
import type { ActivityId, OrganizationId, SendId } from '../../../lib/ids.ts';
import { driverOf } from '../../../storage/connection-dialect.ts';
import { apart } from '../../../storage/integrity/apart.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import type { Schema } from '../../../storage/schema.ts';
import type { NewRow } from '../../../storage/statement.ts';
import type { ChainSendTable } from '../tables.ts';

export const toSend = (row: Selectable<ChainSendTable>): Send => ({
  organizationId: row.organization_id as OrganizationId,
  id: row.id as SendId,
  activityId: row.activity_id as ActivityId,
  caip2: row.caip2,
  sender: row.sender,
  lane: row.lane,
  purpose: row.purpose as SendPurpose,
  request: JSON.parse(row.request),
  afterId: (row.after_id as SendId | null) ?? undefined,
  state: row.state as SendState,
  nonce: row.nonce ?? undefined,
  attempts: JSON.parse(row.attempts),
  txHash: row.tx_hash ?? undefined,
  block: row.block === null ? undefined : (JSON.parse(row.block) as SendBlock),
  error: row.error === null ? undefined : JSON.parse(row.error),
  isOpen: row.is_open === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

export const toProgress = ({ state, nonce, attempts, txHash, block, error, isOpen }: SendProgress) => ({
  state,
  nonce: nonce ?? null,
  attempts: JSON.stringify(attempts),
  tx_hash: txHash ?? null,
  block_number: block?.number ?? null,
  block: block === undefined ? null : JSON.stringify(block),
  error: error === undefined ? null : JSON.stringify(error),
  is_open: isOpen ? 1 : 0,
});

export const fromSend = (send: Send): NewRow<'chain_send'> => ({
  organization_id: send.organizationId,
  id: send.id,
  activity_id: send.activityId,
  caip2: send.caip2,
  sender: send.sender,
  lane: send.lane,
  purpose: send.purpose,
  request: JSON.stringify(send.request),
  after_id: send.afterId ?? null,
  ...toProgress(send),
  created_at_ms: send.createdAtMs,
  updated_at_ms: send.updatedAtMs,
});

const readAs = (send: Send): string => JSON.stringify([toProgress(send), send.updatedAtMs]);

/**
 * Whether a stored send is still what its caller read. Everything that progress replaces is compared, so nothing is replaced
 * that the caller has not seen. Both sides are written anew, so it does not matter how the stored JSON is spaced.
 */
export const isAsRead = (row: Selectable<ChainSendTable>, read: Send): boolean => readAs(toSend(row)) === readAs(read);

export interface SendKey {
  readonly organization_id: string;
  readonly id: string;
}

export interface GenuineSends {
  readonly sends: readonly Send[];
  /** Those that are not what the service wrote. */
  readonly altered: readonly SendKey[];
}

/**
 * The sends of keys that are still there, whole and in the order of their ids. Each is read once, however often its key was
 * chosen: one that is read twice would be sent twice.
 */
export const wholeSends = async (db: Kysely<Schema>, keys: readonly SendKey[]): Promise<readonly Send[]> =>
  inOrder(await read(db, eachOnce(keys)));

/** The same, without those that are not genuine; so many are read with a statement. */
export async function genuineSends(
  db: Kysely<Schema>,
  keys: readonly SendKey[],
  atOnce = Number.POSITIVE_INFINITY,
): Promise<GenuineSends> {
  const sends: Send[] = [];
  const altered: SendKey[] = [];
  for (const some of chunks(eachOnce(keys), atOnce)) {
    const { results, refused } = await apart(some, (half) => read(db, half));
    sends.push(...results);
    altered.push(...refused);
  }
  return { sends: inOrder(sends), altered };
}

async function read(db: Kysely<Schema>, keys: readonly SendKey[]): Promise<Send[]> {
  if (keys.length === 0) return [];
  const wanted = JSON.stringify(keys.map(({ organization_id, id }) => ({ organization_id, id })));
  const columns = { organization_id: 'text', id: 'text' } as const;
  const { rows } = await sql<Selectable<ChainSendTable>>`SELECT send.*
    FROM ${jsonRows(driverOf(db).kind, 'wanted', columns, wanted)} CROSS JOIN chain_send AS send
    WHERE send.organization_id = wanted.organization_id AND send.id = wanted.id`.execute(db);
  return rows.map(toSend);
}

/**
 * A send may be chosen twice: its state may change between two statements, and what somebody else wrote into the embedded
 * database may read like the key of another row. This comes before keys are read apart, where each half would answer with
 * such a row.
 */
const eachOnce = (keys: readonly SendKey[]): SendKey[] => [
  ...new Map(keys.map((key) => [`${key.organization_id} ${key.id}`, key])).values(),
];

const inOrder = (sends: readonly Send[]): Send[] => [...sends].sort((one, other) => (one.id < other.id ? -1 : 1));
