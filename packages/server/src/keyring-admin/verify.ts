import { INSTALLATION_ID, type Keyring, KeyringError } from '@custos/keyring';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { type SealedColumn, SealedReader, type SealedRow, sealedColumns } from '../core/store/sealed.ts';
import { dataModel } from '../domains.ts';
import { rootKeyIdsOf } from '../key-rotation/uses.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import { openBeside } from './beside.ts';

const PAGE = 200;
const PAGE_OF_LARGE = 16;
/** Each holds its bytes in both processes until it is answered. */
const CALLS_MAX = 2;
/** What one call carries: the keyring process takes 8 MiB at most, and a signed body may have two. */
const CALL_BYTES_MAX = 4 * 1024 * 1024;

/** Something that is stored and does not open. */
export interface Unopened {
  readonly table: string;
  readonly organizationId: string;
  /** The row's primary key behind the organization. */
  readonly id: string;
  /** The root key that it is under, where the ring does not hold that. */
  readonly missingRootKey?: string;
}

export interface Verified {
  readonly organizations: number;
  readonly secrets: number;
  readonly unopened: number;
}

/** Opens everything that is sealed in the database, page by page, beside a running service; changes nothing. */
export async function verifyKeyring(config: Config, report: (unopened: Unopened) => void): Promise<Verified> {
  const storage = await openBeside(config, 'keyring verify');
  try {
    if ((await storage.read(InstallationReader).get('root_key_id')) === undefined)
      throw new StartError('the database is under no root key yet: start the service first');
    const keyring = await openRootKey(storage, config.rootKey, config.keyring);
    try {
      return await verifyStored(storage, keyring, report);
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

export async function verifyStored(
  storage: Storage,
  keyring: Keyring,
  report: (unopened: Unopened) => void,
): Promise<Verified> {
  return await new Verification(storage, keyring, report).run();
}

class Verification {
  readonly #storage: Storage;
  readonly #keyring: Keyring;
  readonly #report: (unopened: Unopened) => void;
  #organizations = 0;
  #secrets = 0;
  #unopened = 0;

  constructor(storage: Storage, keyring: Keyring, report: (unopened: Unopened) => void) {
    this.#storage = storage;
    this.#keyring = keyring;
    this.#report = report;
  }

  async run(): Promise<Verified> {
    if (!(await this.#opens(INSTALLATION_ID, []))) await this.#tellKey('deployment', INSTALLATION_ID, 'deployment_key');
    for (let after = ''; ; ) {
      const page = await this.#storage.read(SealedReader).organizationKeys(after, PAGE);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.organizationId;
      this.#organizations += page.length;
      const opened = await Promise.all(page.map(({ organizationId }) => this.#opens(organizationId, [])));
      for (const [index, { organizationId }] of page.entries())
        if (!opened[index]) await this.#tellKey('organization', organizationId, organizationId);
    }
    for (const column of sealedColumns(dataModel.tables)) await this.#column(column);
    return { organizations: this.#organizations, secrets: this.#secrets, unopened: this.#unopened };
  }

  async #column(column: SealedColumn): Promise<void> {
    const size = column.isLarge ? PAGE_OF_LARGE : PAGE;
    for (let after: readonly string[] | undefined; ; ) {
      const rows = await this.#storage.read(SealedReader).page(column, after, size);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.key;
      const sealed = rows.filter((row) => row.sealed !== undefined);
      this.#secrets += sealed.length;
      await inTurn(calls(sealed), (call) => this.#call(column, call));
    }
  }

  /** Rows of one organization. */
  async #call(column: SealedColumn, rows: readonly SealedRow[]): Promise<void> {
    const organizationId = rows[0]?.organizationId ?? '';
    if (await this.#opens(organizationId, rows)) return;
    for (const { key } of rows) {
      // As it is now: the row may be gone or changed since it was read.
      const row = await this.#storage.read(SealedReader).row(column, key);
      if (row?.sealed === undefined || (await this.#opens(organizationId, [row]))) continue;
      const id = key.filter((part, index) => index > 0 || part !== organizationId).join(' ');
      this.#tell(column.table, organizationId, id);
    }
  }

  /** Whether the organization's key and all of the rows open. A key that was re-wrapped meanwhile is read again. */
  async #opens(organizationId: string, rows: readonly SealedRow[], attempt = 1): Promise<boolean> {
    const wrapped = await this.#organizationKey(organizationId);
    if (wrapped === undefined) return organizationId === INSTALLATION_ID && rows.length === 0;
    const secrets = rows.map(({ ownerId, kind, sealed }) => ({ ownerId, kind, sealed: sealed as Uint8Array }));
    try {
      return (await this.#keyring.canOpen(wrapped, organizationId, secrets)).every(Boolean);
    } catch (error) {
      if (!(error instanceof KeyringError) || error.code === 'UNAVAILABLE') throw error;
      return error.code === 'UNKNOWN_ROOT_KEY' && attempt === 1 && (await this.#opens(organizationId, rows, 2));
    }
  }

  async #organizationKey(organizationId: string): Promise<Uint8Array | undefined> {
    if (organizationId !== INSTALLATION_ID)
      return await this.#storage.read(SealedReader).organizationKey(organizationId);
    const wrapped = await this.#storage.read(InstallationReader).get('deployment_key');
    return wrapped === undefined ? undefined : Buffer.from(wrapped, 'hex');
  }

  async #tellKey(table: string, organizationId: string, id: string): Promise<void> {
    const wrapped = await this.#organizationKey(organizationId);
    const missing = rootKeyIdsOf(wrapped && Buffer.from(wrapped).toString('hex')).find(
      (keyId) => !this.#keyring.hasRootKey(keyId),
    );
    this.#tell(table, organizationId, id, missing);
  }

  #tell(table: string, organizationId: string, id: string, missingRootKey?: string): void {
    this.#unopened += 1;
    this.#report({
      table,
      organizationId: printable(organizationId),
      id: printable(id, 400),
      ...(missingRootKey !== undefined && { missingRootKey }),
    });
  }
}

/** A few at a time. */
async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: CALLS_MAX }, worker));
}

/** Neighbours of one organization together, as many as one call may carry. */
function calls(rows: readonly SealedRow[]): SealedRow[][] {
  const made: SealedRow[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const current = made.at(-1);
    const length = row.sealed?.length ?? 0;
    if (current?.[0]?.organizationId === row.organizationId && bytes + length <= CALL_BYTES_MAX) {
      current.push(row);
      bytes += length;
    } else {
      made.push([row]);
      bytes = length;
    }
  }
  return made;
}
