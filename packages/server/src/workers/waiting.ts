import type { Topic } from './claim.ts';

/** How many woken topics can wait; a poll finds those beyond. */
const WOKEN_MAX = 4096;

/** Topics that may have work and have no place yet. */
export class Waiting<T extends Topic> {
  readonly #topics = new Map<string, T>();
  readonly #aside = new Map<string, T>();

  /**
   * Keeps its turn if it waits already; what is known of its group is not forgotten by a wake that does not know it.
   */
  add(topic: T): void {
    if (topic.group !== undefined || !this.#topics.has(topic.key)) this.#topics.set(topic.key, topic);
  }

  addWoken(topic: T): void {
    if (this.#topics.size < WOKEN_MAX) this.add(topic);
  }

  remove({ key }: Topic): void {
    this.#topics.delete(key);
  }

  /** For one that could not be claimed because the database was away. */
  setAside(topic: T): void {
    this.#aside.set(topic.key, topic);
  }

  /** Those that were set aside wait again. */
  takeBack(): void {
    for (const topic of this.#aside.values()) this.add(topic);
    this.#aside.clear();
  }

  /** The longest waiting first. What is removed meanwhile is passed over. */
  [Symbol.iterator](): Iterator<T> {
    return this.#topics.values();
  }
}
