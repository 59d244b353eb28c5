import { type ActivityOperation, type ActivityVersion, type Operation, wireKeys } from './define.ts';

interface Served {
  readonly operation: ActivityOperation;
  readonly version: ActivityVersion;
}

/** The operations that a service has, by the types of their activities. */
export class Operations {
  readonly #byType: ReadonlyMap<string, Served>;

  constructor(operations: readonly Operation[]) {
    const activities = operations.filter((operation) => operation.kind === 'activity');
    const served = activities.flatMap((operation) =>
      operation.versions.map((version): [string, Served] => [version.type, { operation, version }]),
    );
    this.#byType = new Map(served);
  }

  /** The operation and version that serve a type; undefined for types that only the history of an organization holds. */
  find(type: string): Served | undefined {
    return this.#byType.get(type);
  }

  get(type: string): ActivityOperation {
    const found = this.#byType.get(type);
    if (found === undefined) throw new Error(`no operation for ${type}`);
    return found.operation;
  }

  wireKeys(type: string): { readonly intentKey: string; readonly resultKey: string } {
    return this.#byType.get(type)?.version ?? wireKeys(type);
  }
}
