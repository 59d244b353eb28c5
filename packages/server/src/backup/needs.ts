import { parseRotation, type Rotation } from '../key-rotation/rotation.ts';
import { rootKeyIdsOf } from '../key-rotation/uses.ts';
import type { ArchiveRow, SnapshotFacts } from './archive/parts.ts';

const KEY_ID = /^[0-9a-f]{32}$/;

/**
 * Which keys the rows of a backup need, and how many organizations there are: seen as the rows go by, so that it is said of
 * exactly these. Rows that are damaged say nothing; a backup of them is better than none.
 */
export class Needs {
  readonly #rootKeys = new Set<string>();
  readonly #integrityKeys = new Set<string>();
  #organizations = 0;
  /** The last number that the embedded database gave to a change (docs/decisions/0045). */
  #change = '';

  add(table: string, columns: readonly string[], rows: readonly ArchiveRow[]): void {
    const valueIn = (name: string) => {
      const index = columns.indexOf(name);
      return (row: ArchiveRow) => row[index];
    };
    if (table === 'organization') this.#addOrganizations(rows.map(valueIn('wrapped_key')));
    if (table === 'integrity_key') for (const id of rows.map(valueIn('key_id'))) this.#integrityKeys.add(String(id));
    if (table !== 'deployment') return;
    const [fact, text] = [valueIn('name'), valueIn('value')];
    for (const row of rows) this.#addFact(String(fact(row)), String(text(row)));
  }

  get facts(): Pick<SnapshotFacts, 'rootKeyIds' | 'integrityKeyIds' | 'organizations'> & { readonly change: string } {
    return {
      rootKeyIds: [...this.#rootKeys].sort(),
      integrityKeyIds: [...this.#integrityKeys].sort(),
      organizations: this.#organizations,
      change: this.#change,
    };
  }

  #addOrganizations(wrappedKeys: readonly unknown[]): void {
    this.#organizations += wrappedKeys.length;
    for (const wrapped of wrappedKeys)
      if (wrapped instanceof Uint8Array) this.#addRootKeys(rootKeyIdsOf(Buffer.from(wrapped).toString('hex')));
  }

  #addFact(name: string, value: string): void {
    if (name === 'root_key_id') this.#addRootKeys([value]);
    if (name === 'deployment_key') this.#addRootKeys(rootKeyIdsOf(value));
    if (name === 'rotation') this.#addRootKeys([targetOf(value)]);
    if (name === 'change_number') this.#change = value;
  }

  /** Somebody may have put anything in the place of an id. */
  #addRootKeys(ids: readonly string[]): void {
    for (const id of ids) if (KEY_ID.test(id)) this.#rootKeys.add(id);
  }
}

/** The root key that a rotation moves everything to: no ring without it serves the database. */
function targetOf(rotation: string): string {
  let parsed: Rotation | undefined;
  try {
    parsed = parseRotation(rotation);
  } catch {
    return '';
  }
  return parsed?.to ?? '';
}
