import pg from 'pg';
import { type Columns, columnsOf, readRow } from './rows.ts';

/** What a statement answered. */
export interface Answer {
  readonly rows: unknown[];
  /** `UPDATE 1`, `COMMIT`. */
  readonly tag: string;
}

/** A statement that the server has, or will have once what is on the way has arrived. */
export interface Prepared {
  columns: Columns | undefined;
}

/** One statement of a batch. */
export interface Part {
  readonly prepared: Prepared;
  /** Whether somebody reads its rows. */
  readonly isRead: boolean;
}

export interface BatchEvents {
  /** Hears the answers, of all statements or of those before the one that failed. */
  readonly onEnd: (answers: readonly Answer[], error: Error | undefined) => void;
  /** Hears of each statement that is done and has another one behind it. */
  readonly onNext: () => void;
}

/**
 * Several statements on the way together, with one mark behind the last: where one fails, the server does none of those
 * after it (docs/decisions/0053). The driver takes it for one query.
 */
export class Batch extends pg.Query {
  callback: (error: Error | null) => void;
  override readonly submit: (connection: pg.Connection) => void;
  readonly #parts: readonly Part[];
  readonly #answers: Answer[] = [];
  readonly #onNext: () => void;
  #rows: unknown[] = [];
  /** How many are done. */
  #done = 0;
  #unreadable: Error | undefined;

  constructor(bytes: Uint8Array, parts: readonly Part[], { onEnd, onNext }: BatchEvents) {
    super('');
    this.#parts = parts;
    this.#onNext = onNext;
    this.callback = (error) => onEnd(this.#answers, error ?? undefined);
    this.submit = ({ stream }) => {
      stream.write(bytes);
    };
  }

  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    const part = this.#parts[this.#done];
    if (part !== undefined) part.prepared.columns = columnsOf(fields);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const part = this.#parts[this.#done];
    if (!part?.isRead || this.#unreadable !== undefined) return;
    try {
      if (part.prepared.columns === undefined) throw new Error('a row came without its columns');
      this.#rows.push(readRow(part.prepared.columns, fields));
    } catch (error) {
      this.#unreadable = error as Error;
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#done += 1;
    if (this.#done < this.#parts.length) this.#onNext();
    if (this.#unreadable !== undefined) return;
    this.#answers.push({ rows: this.#rows, tag: text });
    this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  /** Fails it now; what the server may still say is not heard. */
  abandon(error: Error): void {
    const { callback } = this;
    this.callback = () => {};
    callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#unreadable ?? null);
  }
}
