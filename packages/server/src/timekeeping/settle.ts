import { setImmediate } from 'node:timers/promises';
import { ClockReader, ClockStore } from '../core/store/clock.ts';
import type { ControlKey } from '../domains/policies/store/velocity.ts';
import { VelocityReader, VelocityStore } from '../domains/policies/store/velocity.ts';
import { minuteOf } from '../domains/sends/sponsorship-model.ts';
import { SponsorshipStore } from '../domains/sends/store/sponsorship.ts';
import { CLOCK_TOLERANCE_MS } from '../lib/clock.ts';
import { isDone } from '../storage/integrity/apart.ts';
import type { CountKey } from '../storage/rate-windows.ts';
import { RateWindowReader, RateWindowStore } from '../storage/rate-windows.ts';
import type { Storage } from '../storage/storage.ts';

/** So much is looked at before others get their turn: the embedded database never lets go of the thread by itself. */
const PAGE = 200;
/** Counts may lie ahead by a slice of their window, which is a day at most. */
const SLICE_MS_MAX = 30 * 60 * 1000;

/**
 * Brings back what was written while a clock was ahead: nobody waits for as long as it was wrong, and what counts
 * against a limit does so for its window, from now on (docs/decisions/0037). Not where it is used: what a limit refuses
 * is rolled back, and the change would be with it.
 */
export async function settleFuture(storage: Storage, clockMs: number): Promise<void> {
  // Who is behind must not take others' times for those of the future.
  const nowMs = Math.max(clockMs, Math.floor((await storage.read(ClockReader).databaseNowMs()) ?? 0));
  const afterMs = nowMs + CLOCK_TOLERANCE_MS;
  await storage.write((store) => store(ClockStore).endImpossibleWaits(nowMs));
  await storage.write((store) => store(SponsorshipStore).moveBack(minuteOf(afterMs), minuteOf(nowMs)));
  await settleVelocity(storage, afterMs, nowMs);
  await settleCounts(storage, afterMs, nowMs);
}

async function settleVelocity(storage: Storage, afterMs: number, nowMs: number): Promise<void> {
  const velocity = storage.read(VelocityReader);
  const settle = async (control: ControlKey): Promise<void> => {
    const page = (last = '') => velocity.groupsBehind(control, last, afterMs, PAGE);
    for (let groups = await page(); groups.length > 0; groups = await page(groups.at(-1)?.groupKey)) {
      for (const { groupKey, hasLater } of groups) {
        // One that is not genuine stays as it is, and keeps no other.
        if (hasLater)
          await isDone(() =>
            storage.write((store) => store(VelocityStore).moveBack(control, groupKey, afterMs, nowMs)),
          );
      }
      if (groups.length < PAGE) return;
      await setImmediate();
    }
  };
  const page = (last?: ControlKey) => velocity.controlsBehind(last, PAGE);
  for (let controls = await page(); controls.length > 0; controls = await page(controls.at(-1))) {
    for (const control of controls) await settle(control);
    if (controls.length < PAGE) return;
    await setImmediate();
  }
}

async function settleCounts(storage: Storage, afterMs: number, nowMs: number): Promise<void> {
  const countedAfterMs = afterMs + SLICE_MS_MAX;
  const page = (last?: CountKey) => storage.read(RateWindowReader).countsBehind(last, PAGE);
  for (let counts = await page(); counts.length > 0; counts = await page(counts.at(-1))) {
    for (const { latestMs, ...count } of counts) {
      if (latestMs <= countedAfterMs) continue;
      await storage.write((store) => store(RateWindowStore).moveBack(count, countedAfterMs, nowMs));
    }
    if (counts.length < PAGE) return;
    await setImmediate();
  }
}
