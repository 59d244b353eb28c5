import type { OperatorKey } from '../../../chains/send/model.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { replacement } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';

const putOperatorKeys = replacement(
  'chain-operator-key-put',
  'chain_operator_key',
  ['caip2', 'address'],
  ['caip2', 'address', 'public_key', 'sealed_key', 'created_at_ms'],
);

/** Keys that pay for operators. */
export class OperatorKeyReader extends Reader {
  /** Whether there is one at all, for who does not use it. */
  async hasOperatorKey(caip2: string, address: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('chain_operator_key')
      .modifyFront(partial('whether it is there; who signs with it reads it whole'))
      .select('address')
      .where('caip2', '=', caip2)
      .where('address', '=', address)
      .executeTakeFirst();
    return row !== undefined;
  }

  async operatorKey(caip2: string, address: string): Promise<OperatorKey | undefined> {
    const row = await this.db
      .selectFrom('chain_operator_key')
      .selectAll()
      .where('caip2', '=', caip2)
      .where('address', '=', address)
      .executeTakeFirst();
    return (
      row && {
        caip2: row.caip2,
        address: row.address,
        publicKey: row.public_key,
        sealedKey: row.sealed_key,
        createdAtMs: row.created_at_ms,
      }
    );
  }
}

export class OperatorKeyStore extends OperatorKeyReader {
  static readonly writes = true;

  /** In the place of one that was there before: it is genuine then, whatever that was. */
  async insertOperatorKey({ caip2, address, publicKey, sealedKey, createdAtMs }: OperatorKey): Promise<void> {
    const row = { caip2, address, public_key: publicKey, sealed_key: sealedKey, created_at_ms: createdAtMs };
    await putOperatorKeys(this.db, [row]);
  }
}
