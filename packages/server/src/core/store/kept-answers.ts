import type { OrganizationId } from '../../lib/ids.ts';
import { type KeptValues, partName } from '../../storage/revisions.ts';
import { type Connection, keptValues, Reader } from '../../storage/store.ts';
import type { OrganizationPart } from '../../storage/table.ts';

const BODY_BYTES_MAX = 1024;
/** Characters of all answers that are kept; beyond, all are forgotten. */
const LENGTH_MAX = 16 * 1024 * 1024;

export interface Asked {
  readonly operation: string;
  readonly organizationId: OrganizationId;
  readonly body: Uint8Array;
  /** What the answer is made of, besides the request. */
  readonly madeOf: readonly OrganizationPart[];
}

/**
 * Answers that were written before, for the same request to the same organization, while nothing that they are made of has
 * changed (docs/decisions/0052). Only where the storage can tell.
 */
export class KeptAnswers extends Reader {
  readonly #kept: KeptValues<readonly [string]> | undefined;

  constructor(connection: Connection) {
    super(connection);
    this.#kept = keptValues(connection, {
      sizeOf: (key, [text]) => key.length + text.length,
      sizeMax: LENGTH_MAX,
    });
  }

  async get(
    { operation, organizationId, body, madeOf }: Asked,
    make: () => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const kept = body.length <= BODY_BYTES_MAX && madeOf.length > 0 ? this.#kept : undefined;
    if (kept === undefined) return await make();
    const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
    const key = `${operation} ${organizationId} ${text}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const { moment } = kept;
    const pieces = await make();
    // What has more than one piece is long.
    const [only] = pieces;
    if (pieces.length === 1 && only !== undefined) {
      const dependsOn = madeOf.map((part) => partName(part, organizationId));
      kept.keep(key, [only], dependsOn, moment);
    }
    return pieces;
  }
}
