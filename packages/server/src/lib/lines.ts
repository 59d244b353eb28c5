/** Lets those who come with the same name do their work one after the other, in the order in which they came. */
export class Lines {
  readonly #ends = new Map<string, Promise<void>>();

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#ends.get(name);
    let leave = (): void => {};
    const end = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#ends.set(name, end);
    await before;
    try {
      return await work();
    } finally {
      leave();
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    }
  }
}
