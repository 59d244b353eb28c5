import type { TransferGate, Transfers } from '../transfers/limits.ts';
import type { Notice, Refusal, TransferAnswer, TransferNotice } from './channel.ts';
import { errorOf, refusalOf } from './protocol.ts';

/** Asks the thread that counts for its process, or the process that counts for several. */
export class AskedTransfers implements TransferGate {
  readonly #send: (notice: Notice) => void;
  /** Those that were not answered yet. */
  readonly #asked = new Map<number, (refusal: Refusal | undefined) => void>();
  #lastId = 0;

  constructor(send: (notice: Notice) => void) {
    this.#send = send;
  }

  admit(wanted: Transfers): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, (refusal) => (refusal === undefined ? resolve() : reject(errorOf(refusal))));
      this.#send({ type: 'transfer', id, wanted });
    });
  }

  hear({ id, refusal }: TransferAnswer): void {
    this.#asked.get(id)?.(refusal);
    this.#asked.delete(id);
  }
}

/** What the one who counts says to the one who asks. */
export const answerTo = (gate: TransferGate, { id, wanted }: TransferNotice): Promise<TransferAnswer> =>
  gate.admit(wanted).then(
    (): TransferAnswer => ({ type: 'admitted', id }),
    (error: unknown): TransferAnswer => ({ type: 'admitted', id, refusal: refusalOf(error) }),
  );
