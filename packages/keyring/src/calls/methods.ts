import type { KeyringCalls } from '../keyring.ts';
import type { Method } from './call.ts';
import { METHODS } from './table.ts';

/** What a keyring does with every call that it has no method of its own for. */
abstract class Performer {
  abstract perform(method: Method, args: readonly unknown[]): Promise<unknown>;
}

for (const method of METHODS) {
  Object.defineProperty(Performer.prototype, method, {
    configurable: true,
    writable: true,
    value(this: Performer, ...args: unknown[]): Promise<unknown> {
      return this.perform(method, args);
    },
  });
}

/** A class with a method for each call of the table, all of which lead to `perform`. */
export const CallMethods = Performer as abstract new () => Performer & KeyringCalls;
