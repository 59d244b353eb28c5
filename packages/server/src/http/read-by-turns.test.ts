import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Connection, Connections } from '../admission/connections.ts';
import { ReadByTurns } from './read-by-turns.ts';

const CLIENT = '203.0.113.1';

/** A connection whose handle notes whether it is read. */
class FakeSocket extends EventEmitter {
  destroyed = false;
  isRead = true;
  readonly _handle = {
    readStop: () => {
      this.isRead = false;
    },
    readStart: () => {
      this.isRead = true;
    },
  };
}

function open(count: number) {
  let nowMs = 0;
  const clock = (): number => nowMs;
  const connections = new Connections({ max: 10_000, nowMs: clock, observe: { refused() {}, dropped() {} } });
  const connect = (client = CLIENT): [FakeSocket, Connection] => {
    const socket = new FakeSocket();
    connections.add(socket as unknown as Socket, client);
    const connection = connections.of(socket as unknown as Socket);
    if (connection === undefined) throw new Error('it was not added');
    return [socket, connection];
  };
  const all = Array.from({ length: count }, () => connect());
  return {
    connections,
    reads: new ReadByTurns(connections, clock),
    sockets: all.map(([socket]) => socket),
    all: all.map(([, connection]) => connection),
    connect,
    advance: (ms: number) => {
      nowMs += ms;
    },
    held: () => all.filter(([socket]) => !socket.isRead).length,
  };
}

test('a client that sends little is read as always', async () => {
  const { reads, all, held, advance } = open(100);
  advance(1000);
  for (const connection of all.slice(0, 3)) expect(reads.arrived(connection)).toBe(1000);
  await nextTurn();
  for (const connection of all.slice(3, 6)) reads.arrived(connection);
  expect(held()).toBe(0);
});

test('a client with few connections is read as always, even if all of them send at once', () => {
  const { reads, all, held, advance } = open(64);
  advance(1000);
  for (const connection of all) reads.arrived(connection);
  expect(held()).toBe(0);
});

test('more requests than belong in a turn hold the rest back, and some are read in each turn', async () => {
  const { reads, all, sockets, held, advance } = open(400);
  advance(1000);
  for (const connection of all.slice(0, 4)) reads.arrived(connection);
  expect(held()).toBe(399);
  advance(60);
  await nextTurn();
  const first = all.filter((_, index) => sockets[index]?.isRead && index !== 3);
  expect(first.length).toBeGreaterThanOrEqual(4);
  expect(first.length).toBeLessThanOrEqual(16);
  // What they bring has waited since they were held, and does not hold anybody again.
  for (const connection of first) expect(reads.arrived(connection)).toBe(1000);
  const before = held();
  await nextTurn();
  expect(before - held()).toBe(4);
  for (let turn = 0; turn < 120; turn += 1) await nextTurn();
  expect(held()).toBe(0);
  expect(reads.arrived(all[0] as Connection)).toBe(1060);
});

test('those whose turn it is to be read are not held once more by others who send too much', async () => {
  const { reads, all, sockets, advance } = open(400);
  advance(1000);
  const busy = all.slice(4, 8);
  for (const connection of busy) connection.requests = 1;
  for (const connection of all.slice(0, 4)) reads.arrived(connection);
  advance(60);
  await nextTurn();
  const isReadAgain = (index: number): boolean => index > 7 && sockets[index]?.isRead === true;
  const readAgain = all.filter((_, index) => isReadAgain(index));
  // Those with something going on were never held. They have their answers, and ask for more.
  for (const connection of busy) connection.requests = 0;
  for (const connection of busy) expect(reads.arrived(connection)).toBe(1060);
  expect(sockets[4]?.isRead).toBe(false);
  expect(readAgain.length).toBeGreaterThan(0);
  expect(all.filter((_, index) => isReadAgain(index))).toEqual(readAgain);
  for (const connection of readAgain) expect(reads.arrived(connection)).toBe(1000);
});

test('a client that was told to come again has not waited while it stayed away', async () => {
  const { reads, all, sockets, connections, advance } = open(400);
  advance(1000);
  const [early, late] = [all[4], all[5]] as [Connection, Connection];
  connections.comeAgain(early.socket, 1);
  connections.comeAgain(late.socket, 16);
  for (const connection of all.slice(0, 4)) reads.arrived(connection);
  advance(1500);
  await nextTurn();
  expect([sockets[4]?.isRead, sockets[5]?.isRead, sockets[6]?.isRead]).toEqual([true, true, true]);
  expect(reads.arrived(early)).toBe(2000);
  // One that comes before its time is like one that was told nothing.
  expect(reads.arrived(late)).toBe(1000);
  expect(reads.arrived(all[6] as Connection)).toBe(1000);
});

test('nobody is held for long, however slow the turns are', async () => {
  const { reads, all, held, advance } = open(1000);
  advance(1000);
  for (const connection of all.slice(0, 4)) reads.arrived(connection);
  for (let turn = 0; turn < 11; turn += 1) {
    advance(500);
    await nextTurn();
  }
  expect(held()).toBe(0);
});

test('neither others, nor young connections, nor those with something going on are held back', async () => {
  const { reads, all, sockets, connect, held, advance } = open(70);
  const [other] = connect('203.0.113.2');
  advance(1000);
  const [young] = connect();
  const busy = all[69] as Connection;
  busy.requests = 1;
  for (const connection of all.slice(0, 4)) reads.arrived(connection);
  expect([other.isRead, young.isRead, sockets[69]?.isRead]).toEqual([true, true, true]);
  expect(held()).toBe(68);
});

test('a connection that ended meanwhile is left alone', async () => {
  const { reads, all, sockets, advance } = open(70);
  advance(1000);
  for (const connection of all.slice(0, 4)) reads.arrived(connection);
  const ended = sockets[69] as FakeSocket;
  ended.destroyed = true;
  for (let turn = 0; turn < 30; turn += 1) await nextTurn();
  expect(ended.isRead).toBe(false);
  expect(sockets.slice(0, 69).every(({ isRead }) => isRead)).toBe(true);
});
