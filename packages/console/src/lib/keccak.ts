/** Keccak-256 as Ethereum uses it (the padding of the original submission, not of SHA-3). For checksums of addresses. */

const ROUNDS = 24;
const LANES = 25;
const RATE = 136;
const MASK = (1n << 64n) - 1n;

const rotated = (lane: bigint, by: number): bigint =>
  by === 0 ? lane : ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK;

/** The constants follow from the definition: an LFSR for iota, a walk over the lanes for rho and pi. */
const { constants, offsets } = (() => {
  const made: bigint[] = [];
  let register = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) constant |= 1n << BigInt((1 << bit) - 1);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
    made.push(constant);
  }
  const turns = new Array<number>(LANES).fill(0);
  let [x, y] = [1, 0];
  for (let step = 0; step < 24; step += 1) {
    turns[x + 5 * y] = (((step + 1) * (step + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return { constants: made, offsets: turns };
})();

function permute(state: bigint[]): void {
  const at = (index: number): bigint => state[index] ?? 0n;
  for (const constant of constants) {
    const columns = [0, 1, 2, 3, 4].map((x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20));
    for (let index = 0; index < LANES; index += 1) {
      const x = index % 5;
      state[index] = at(index) ^ (columns[(x + 4) % 5] ?? 0n) ^ rotated(columns[(x + 1) % 5] ?? 0n, 1);
    }
    const moved = new Array<bigint>(LANES).fill(0n);
    for (let index = 0; index < LANES; index += 1) {
      const x = index % 5;
      const y = (index - x) / 5;
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotated(at(index), offsets[index] ?? 0);
    }
    for (let index = 0; index < LANES; index += 1) {
      const row = index - (index % 5);
      const [own, next, second] = [0, 1, 2].map((by) => moved[row + ((index + by) % 5)] ?? 0n) as [
        bigint,
        bigint,
        bigint,
      ];
      state[index] = own ^ (~next & MASK & second);
    }
    state[0] = at(0) ^ constant;
  }
}

export function keccak256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / RATE) * RATE);
  padded.set(bytes);
  padded[bytes.length] = 0x01;
  padded[padded.length - 1] = (padded.at(-1) ?? 0) | 0x80;
  const words = new DataView(padded.buffer);
  const state = new Array<bigint>(LANES).fill(0n);
  for (let block = 0; block < padded.length; block += RATE) {
    for (let lane = 0; lane < RATE / 8; lane += 1) {
      state[lane] = (state[lane] ?? 0n) ^ words.getBigUint64(block + lane * 8, true);
    }
    permute(state);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let lane = 0; lane < 4; lane += 1) digest.setBigUint64(lane * 8, state[lane] ?? 0n, true);
  return new Uint8Array(digest.buffer);
}
