import { useEffect, useRef } from 'react';
import { isTyping, keyOf } from '../lib/shortcuts.ts';
import { createStore, useStore } from '../lib/store.ts';

const SWITCH = 'custos-single-keys';
const singleKeys = createStore(readSwitch());

function readSwitch(): boolean {
  try {
    return localStorage.getItem(SWITCH) !== 'off';
  } catch {
    return true;
  }
}

/** Single letters can be switched off: speech input and slips of the hand would trigger them (WCAG 2.1.4). */
export const useSingleKeys = (): boolean => useStore(singleKeys);

export function setSingleKeys(isOn: boolean): void {
  singleKeys.set(isOn);
  try {
    localStorage.setItem(SWITCH, isOn ? 'on' : 'off');
  } catch {
    // It holds for this page then.
  }
}

/** What is over the page takes the keys: dialogs, menus and lists to choose from. */
const COVERS = ['dialog', 'alertdialog', 'menu', 'listbox']
  .map((role) => `[role="${role}"]:not([data-ending-style])`)
  .join(', ');

/** Whether something is over the page. */
export const isCovered = (): boolean => document.querySelector(COVERS) !== null;

export type KeyHandler = (event: KeyboardEvent) => void;

/**
 * Keys of a page, while it is mounted: `useKeys({ a: approve, r: reject, 'g i': toInbox, 'ctrl+enter': act })`. Letters do
 * nothing in fields, dialogs and menus, or when they are switched off; those with Ctrl work everywhere.
 */
export function useKeys(handlers: Readonly<Record<string, KeyHandler | undefined>>, isOn = true): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    if (!isOn) return;
    let leader: { readonly key: string; readonly atMs: number } | undefined;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const key = keyOf(event);
      const isSingle = !key.includes('+') && key !== 'escape';
      if (isSingle && (!singleKeys.get() || isTyping(event.target) || isCovered())) return;
      const sequence = leader && performance.now() - leader.atMs < 1500 ? `${leader.key} ${key}` : undefined;
      const handler = (sequence && latest.current[sequence]) || latest.current[key];
      leader = { key, atMs: performance.now() };
      if (handler === undefined) return;
      event.preventDefault();
      leader = undefined;
      handler(event);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isOn]);
}
