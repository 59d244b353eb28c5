import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * A pipe that this process was started with, as a stream. Node has that in its network module only, which is why this
 * file, and no other of the keyring, may import it: nothing listens, and nothing is connected to.
 */
export const openPipe = (fd: number): Duplex => new Socket({ fd, readable: true, writable: true });
