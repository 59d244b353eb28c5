import { fromBase58, toHex } from './bytes.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const UINT64_MAX = 2n ** 64n - 1n;
const TRANSFER = 2;

/** The key behind an address, if it is one. */
export function solanaKey(address: string): Uint8Array | undefined {
  const key = fromBase58(address);
  return key?.length === KEY_BYTES ? key : undefined;
}

/**
 * A transaction that moves SOL, without signature and blockhash: the service puts a fresh one in when it sends. All counts
 * are below 128, so each takes one byte.
 */
export function solTransfer(from: string, to: string, lamports: bigint): string {
  const [payer, recipient] = [solanaKey(from), solanaKey(to)];
  if (payer === undefined || recipient === undefined) throw new RangeError('not an address of Solana');
  if (lamports < 0n || lamports > UINT64_MAX) throw new RangeError('the amount does not fit into 64 bits');
  const isSelf = from === to;
  const data = new DataView(new ArrayBuffer(12));
  data.setUint32(0, TRANSFER, true);
  data.setBigUint64(4, lamports, true);
  const keys = isSelf ? [payer] : [payer, recipient];
  const program = keys.length;
  return toHex(
    Uint8Array.of(
      1,
      ...new Uint8Array(SIGNATURE_BYTES),
      // One signer, who may write; of those who do not sign, the last one only reads: the system program.
      1,
      0,
      1,
      program + 1,
      ...keys.flatMap((key) => [...key]),
      ...new Uint8Array(KEY_BYTES),
      ...new Uint8Array(KEY_BYTES),
      1,
      program,
      2,
      0,
      isSelf ? 0 : 1,
      data.byteLength,
      ...new Uint8Array(data.buffer),
    ),
  );
}
