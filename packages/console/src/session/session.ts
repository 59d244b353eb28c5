import { SessionKey } from '@custos/sdk';
import { leave } from '../lib/leaving.ts';
import { createStore, useStore } from '../lib/store.ts';
import { deleteSession, readSession, type SessionOrigin, type StoredSession, writeSession } from './key-store.ts';

/** Who is signed in. */
export interface Session {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly userId: string;
  readonly userName: string;
  readonly publicKey: string;
  readonly expiresAtMs: number;
  readonly origin: SessionOrigin;
  readonly key: SessionKey;
}

/** Why a session that was open no longer works. */
export type EndReason = 'expired' | 'revoked' | 'signed-out';

interface State {
  /** False until the browser's storage was read. */
  readonly isKnown: boolean;
  readonly session: Session | undefined;
  /** The session whose page is still open, though the service no longer takes it. */
  readonly ended: { readonly session: Session; readonly reason: Exclude<EndReason, 'signed-out'> } | undefined;
}

const state = createStore<State>({ isKnown: false, session: undefined, ended: undefined });
const tabs = new BroadcastChannel('custos-session');

export const useSessionState = (): State => useStore(state);
export const useSession = (): Session | undefined => useStore(state).session;
export const currentSession = (): Session | undefined => state.get().session;

export function useSessionOrThrow(): Session {
  const { session, ended } = useStore(state);
  const shown = session ?? ended?.session;
  if (shown === undefined) throw new Error('this page needs a session');
  return shown;
}

/** Reads what an earlier visit left. */
export async function loadSession(): Promise<void> {
  const stored = await readSession().catch(() => undefined);
  const session = stored === undefined || stored.expiresAtMs <= Date.now() ? undefined : await revive(stored);
  if (stored !== undefined && session === undefined) await deleteSession().catch(() => undefined);
  state.set({ isKnown: true, session, ended: undefined });
}

const revive = async ({ keyPair, ...session }: StoredSession): Promise<Session> => {
  const key = await SessionKey.from(keyPair);
  return { ...session, key, publicKey: key.publicKey };
};

export async function openSession(session: Session): Promise<void> {
  const { key, publicKey: _, ...described } = session;
  await writeSession({ ...described, keyPair: key.keyPair });
  enter(session);
  tabs.postMessage('changed');
}

/** Somebody gave the user or the organization another name meanwhile. Storage may keep the old one: it is asked again. */
export function renameSession(names: Pick<Session, 'userName' | 'organizationName'>): void {
  const { session } = state.get();
  if (session !== undefined) state.set({ isKnown: true, session: { ...session, ...names }, ended: undefined });
}

/** The service refused the key, or its time is over: the page stays as it is, and asks to sign in again. */
export function endSession(reason: 'expired' | 'revoked'): void {
  const { session } = state.get();
  if (session === undefined) return;
  const { publicKey } = session;
  end(publicKey, reason);
  void deleteOf(publicKey).catch(() => undefined);
  tabs.postMessage({ ended: publicKey, reason });
}

/** A tab that missed a sign-in elsewhere speaks of its own session only: the newer one goes on. */
function end(publicKey: string, reason: 'expired' | 'revoked'): void {
  const { session } = state.get();
  if (session?.publicKey !== publicKey) return;
  state.set({ isKnown: true, session: undefined, ended: { session, reason } });
}

async function deleteOf(publicKey: string): Promise<void> {
  const stored = await readSession();
  if (stored !== undefined && (await revive(stored)).publicKey === publicKey) await deleteSession();
}

/** What a tab says when its session ended. */
const isEnd = (said: unknown): said is { readonly ended: string; readonly reason: 'expired' | 'revoked' } =>
  typeof said === 'object' && said !== null && 'ended' in said;

/** Forgets the key, and everything that was read with it. */
export async function forgetSession(): Promise<void> {
  await deleteSession().catch(() => undefined);
  state.set({ isKnown: true, session: undefined, ended: undefined });
  tabs.postMessage('changed');
}

/** What one person read and typed is not for the next. */
function enter(session: Session): void {
  const { session: open, ended } = state.get();
  const before = open ?? ended?.session;
  if (before !== undefined && isOther(before, session)) leave();
  state.set({ isKnown: true, session, ended: undefined });
}

const isOther = (before: Session, now: Session): boolean =>
  before.userId !== now.userId || before.organizationId !== now.organizationId;

/** Another tab signed in, or out, or was told that the session ended. */
async function followTabs(said: unknown): Promise<void> {
  if (isEnd(said)) {
    end(said.ended, said.reason);
    return;
  }
  const stored = await readSession().catch(() => undefined);
  if (stored === undefined) {
    state.set({ isKnown: true, session: undefined, ended: undefined });
    return;
  }
  const revived = await revive(stored);
  const { session } = state.get();
  if (revived.publicKey === session?.publicKey && revived.expiresAtMs === session.expiresAtMs) return;
  enter(revived);
}

tabs.onmessage = ({ data }: MessageEvent<unknown>) => void followTabs(data);
