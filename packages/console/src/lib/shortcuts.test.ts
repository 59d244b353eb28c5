import { describe, expect, it } from 'vitest';
import { isTyping, keyOf } from './shortcuts.ts';

const held = { ctrlKey: false, metaKey: false, altKey: false };

describe('shortcuts', () => {
  it('spell a key in one way', () => {
    expect(keyOf({ ...held, key: 'A' })).toBe('a');
    expect(keyOf({ ...held, key: 'K', ctrlKey: true })).toBe('ctrl+k');
    expect(keyOf({ ...held, key: 'k', metaKey: true })).toBe('ctrl+k');
    expect(keyOf({ ...held, key: '?' })).toBe('?');
    expect(keyOf({ ...held, key: ' ' })).toBe('space');
  });

  it('leave fields alone', () => {
    const element = (tagName: string, more: object = {}) => ({ tagName, ...more }) as unknown as EventTarget;
    expect(isTyping(element('INPUT', { type: 'text' }))).toBe(true);
    expect(isTyping(element('INPUT', { type: 'checkbox' }))).toBe(false);
    expect(isTyping(element('TEXTAREA'))).toBe(true);
    expect(isTyping(element('DIV', { isContentEditable: true }))).toBe(true);
    expect(isTyping(element('BUTTON'))).toBe(false);
    expect(isTyping(null)).toBe(false);
  });
});
