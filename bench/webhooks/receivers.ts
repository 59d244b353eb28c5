import { Child } from '../child.ts';
import type {
  Addresses,
  ArrivalKey,
  Arrivals,
  ArrivalTimes,
  ReceiversAnswer,
  ReceiversQuestion,
  Sample,
} from './receiver-process.ts';

/** The receivers of all endpoints, see receiver-process.ts. */
export class Receivers implements AsyncDisposable {
  readonly #child = new Child<ReceiversQuestion, ReceiversAnswer>(new URL('./receiver-process.ts', import.meta.url));

  get pid(): number {
    return this.#child.pid;
  }

  async open(alive: number): Promise<Addresses> {
    return (await this.#child.ask({ ask: 'open', alive })) as Addresses;
  }

  async forget(by: ArrivalKey): Promise<void> {
    await this.#child.ask({ ask: 'forget', by });
  }

  /** Waits until so many have arrived. */
  async arrived(count: number, patienceSeconds: number): Promise<Arrivals> {
    return (await this.#child.ask({ ask: 'arrived', count, patienceSeconds })) as Arrivals;
  }

  async arrivedSoFar(): Promise<Arrivals> {
    return await this.arrived(0, 0);
  }

  async times(): Promise<ArrivalTimes> {
    return (await this.#child.ask({ ask: 'times' })) as ArrivalTimes;
  }

  async sample(): Promise<Sample> {
    return (await this.#child.ask({ ask: 'sample' })) as Sample;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
  }
}
