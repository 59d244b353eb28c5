import type { KeyringCalls } from '../keyring.ts';

export type Method = keyof KeyringCalls;

/** Where a call goes in a keyring process, and what it may take. */
export interface Route {
  /**
   * `any`: the thread with the least to do. `first`: always the same thread. `all`: every thread; the first one answers.
   * `ring`: the first thread writes the ring, and then every thread reads it.
   */
  readonly to: 'any' | 'first' | 'all' | 'ring';
  /** Of a call to `ring`: a service may make it too. The others are administration (docs/decisions/0059). */
  readonly isForServices?: true;
  /** How long it may take, with its wait. */
  readonly seconds: number;
  /** Of its packed arguments. */
  readonly bytesMax: number;
}

/** How idle threads share a call with a long list. Each part's answers cross the line as one array of bytes. */
export interface Sharing<Answer> {
  /** Which argument the list is, from 0. */
  readonly list: number;
  /** Fewer of the list than this are not worth another thread. */
  readonly perThreadMin: number;
  pack(answers: readonly Answer[]): Uint8Array;
  unpack(packed: Uint8Array): Answer[];
}

/** What a process has to know about a call to bring it to a thread and its answer back. */
export interface Transport<Answer = readonly unknown[]> {
  readonly route: Route;
  /** The client checks too, before it packs what the process would only refuse. */
  readonly isCheckedByClient?: true;
  readonly sharing?: Answer extends readonly (infer Each)[] ? Sharing<Each> : never;
}

/** An entry of the table. What runs the call is the function of the same name in the folder `local`. */
export interface Call<M extends Method> extends Transport<Awaited<ReturnType<KeyringCalls[M]>>> {
  /** Turns arguments, whatever came in their place, into what the function is given: checked copies. */
  readonly check: (...args: Unchecked<Parameters<KeyringCalls[M]>>) => readonly [] | readonly unknown[];
}

type Unchecked<Args extends readonly unknown[]> = { [K in keyof Args]: unknown };
