import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { flipped } from '../../test/fixtures/client.ts';
import * as handshake from './handshake.ts';

const key = randomBytes(32);
const line = { kind: handshake.CONNECTION.line, session: randomBytes(16), index: 3 } as const;

test('both sides prove that they hold the key, for this connection and what it is to be', () => {
  const { bytes: greeting, nonce: keyringNonce } = handshake.greet();
  const claim = handshake.claimSession();
  const { bytes, nonce } = handshake.makeClaim(key, claim, handshake.readGreeting(greeting) as Buffer);
  expect([greeting.length, bytes.length]).toEqual([handshake.GREETING_BYTES, handshake.CLAIM_BYTES]);
  const checked = handshake.checkClaim(key, bytes, keyringNonce);
  expect(checked).toMatchObject({ kind: handshake.CONNECTION.session, index: 0, nonce });
  const session = handshake.newSession();
  const reply = handshake.accept(key, checked as NonNullable<typeof checked>, session, keyringNonce);
  expect(reply.length).toBe(handshake.REPLY_BYTES);
  expect(handshake.checkReply(key, reply, claim, keyringNonce, nonce)).toEqual({ session });
});

test('every bit of a claim and of a reply counts', () => {
  const { nonce: keyringNonce } = handshake.greet();
  const { bytes, nonce } = handshake.makeClaim(key, line, keyringNonce);
  const claim = handshake.checkClaim(key, bytes, keyringNonce) as NonNullable<ReturnType<typeof handshake.checkClaim>>;
  expect(claim).toMatchObject({ ...line, session: line.session });
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    expect(handshake.checkClaim(key, Buffer.from(flipped(bytes, bit)), keyringNonce), `bit ${bit}`).toBeUndefined();
  }
  const reply = handshake.accept(key, claim, line.session, keyringNonce);
  for (let bit = 0; bit < 8 * reply.length; bit += 1) {
    const outcome = handshake.checkReply(key, Buffer.from(flipped(reply, bit)), line, keyringNonce, nonce);
    expect('refused' in outcome, `bit ${bit}`).toBe(true);
  }
});

test('no proof is good again, for the other side, for another key, nonce or session', () => {
  const { nonce: keyringNonce } = handshake.greet();
  const { bytes, nonce } = handshake.makeClaim(key, line, keyringNonce);
  const claim = handshake.checkClaim(key, bytes, keyringNonce) as NonNullable<ReturnType<typeof handshake.checkClaim>>;
  // A recorded claim, against the next greeting.
  expect(handshake.checkClaim(key, bytes, handshake.greet().nonce)).toBeUndefined();
  expect(handshake.checkClaim(randomBytes(32), bytes, keyringNonce)).toBeUndefined();
  // The service's own proof, sent back to it.
  const reflected = Buffer.concat([Buffer.of(0), line.session, bytes.subarray(-32)]);
  expect(handshake.checkReply(key, reflected, line, keyringNonce, nonce)).toEqual({ refused: 1 });
  // A line that is told of another session than its own.
  const elsewhere = handshake.accept(key, claim, handshake.newSession(), keyringNonce);
  expect(handshake.checkReply(key, elsewhere, line, keyringNonce, nonce)).toEqual({ refused: 1 });
  // A recorded reply, to the next claim.
  const reply = handshake.accept(key, claim, line.session, keyringNonce);
  expect(handshake.checkReply(key, reply, line, keyringNonce, randomBytes(32))).toEqual({ refused: 1 });
  expect(handshake.checkReply(key, handshake.refuse(2), line, keyringNonce, nonce)).toEqual({ refused: 2 });
});

test('nothing but this version of it is understood', () => {
  const { bytes, nonce } = handshake.greet();
  const other = Buffer.from(bytes);
  other[8] = 2;
  expect(handshake.readGreeting(bytes)).toEqual(nonce);
  for (const wrong of [
    other,
    bytes.subarray(1),
    Buffer.concat([bytes, Buffer.of(0)]),
    randomBytes(41),
    Buffer.alloc(0),
  ]) {
    expect(handshake.readGreeting(wrong)).toBeUndefined();
  }
  for (const wrong of [Buffer.alloc(0), randomBytes(handshake.CLAIM_BYTES), randomBytes(3)]) {
    expect(handshake.checkClaim(key, wrong, nonce)).toBeUndefined();
  }
});
