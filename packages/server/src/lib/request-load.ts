/** Gaps shorter than this between requests are part of being busy. */
const PAUSE_MS = 20;

/** Whether requests are being answered, for what can wait meanwhile. */
export class RequestLoad {
  #inFlight = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  begin(): void {
    this.#inFlight += 1;
  }

  end(): void {
    this.#inFlight -= 1;
    this.#lastMs = performance.now();
  }

  isBusy(): boolean {
    return this.#inFlight > 0 || performance.now() - this.#lastMs < PAUSE_MS;
  }
}
