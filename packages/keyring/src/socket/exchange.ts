import type { Socket } from 'node:net';

// What both ends of a keyring's socket read with: bytes of a known number, and then lines of JSON.

/** More than any message has: the list of methods is the longest part of one. */
const MESSAGE_BYTES_MAX = 64 * 1024;

/** So many bytes, in so much time; undefined when they do not come. What follows them stays where it is. */
export function readExactly(socket: Socket, length: number, limitMs: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const finish = (bytes: Buffer | undefined): void => {
      clearTimeout(timer);
      socket.off('readable', look).off('close', end).off('end', end);
      resolve(bytes);
    };
    const look = (): void => {
      const bytes = socket.read(length) as Buffer | null;
      // At the end of a stream it answers with less.
      if (bytes !== null) finish(bytes.length === length ? bytes : undefined);
    };
    const end = (): void => finish(undefined);
    const timer = setTimeout(end, limitMs);
    socket.on('readable', look).once('close', end).once('end', end);
    look();
    // One that ended before does not say so again.
    if (socket.destroyed || socket.readableEnded) end();
  });
}

/** Tells of every message, and of what is none. Whoever sends that is not listened to any more. */
export function readMessages(socket: Socket, heard: (message: unknown) => void, garbled: () => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    rest += text;
    const lines = rest.split('\n');
    rest = lines.pop() as string;
    try {
      for (const line of lines) heard(JSON.parse(line));
      if (rest.length > MESSAGE_BYTES_MAX) throw new Error('a message is too long');
    } catch {
      socket.removeAllListeners('data').pause();
      garbled();
    }
  });
}

export const messageBytes = (message: object): string => `${JSON.stringify(message)}\n`;
