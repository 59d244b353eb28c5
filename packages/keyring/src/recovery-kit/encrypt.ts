import { Buffer } from 'node:buffer';
import { KeyringError } from '../errors.ts';

/** An answer on a line may have 64 MiB. */
const BYTES_MAX = 60 * 1024 * 1024;

/** An age file for the recipients, of the pieces one after the other. It wipes them, but not what age makes of them. */
export async function encryptPieces(
  pieces: AsyncIterator<Uint8Array>,
  recipients: readonly string[],
): Promise<Uint8Array> {
  // Loaded here: no other call needs it, and a start is not to wait for it.
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  const used: Uint8Array[] = [];
  const plaintext = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done === true) return controller.close();
      used.push(value);
      controller.enqueue(value);
    },
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    const reader = (await encrypter.encrypt(plaintext)).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
      if (length > BYTES_MAX) throw new KeyringError('INVALID_INPUT', `a kit has at most ${BYTES_MAX} bytes`);
    }
  } finally {
    for (const piece of used) piece.fill(0);
  }
  return new Uint8Array(Buffer.concat(chunks, length));
}
