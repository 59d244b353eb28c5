import { describe, expect, it } from 'vitest';
import { initialsOf, listInWords, plainType, showInvisible } from './text.ts';

describe('text', () => {
  it('makes initials of any name', () => {
    expect(initialsOf('Ada Okafor')).toBe('AO');
    expect(initialsOf('  root ')).toBe('R');
    expect(initialsOf('Anna van der Berg')).toBe('AB');
    expect(initialsOf('')).toBe('?');
    expect(initialsOf('𝒜da')).toBe('𝒜');
  });

  it('lists in words', () => {
    expect(listInWords([])).toBe('');
    expect(listInWords(['Ada'])).toBe('Ada');
    expect(listInWords(['Ada', 'Grace', 'Tomás'], 'or')).toBe('Ada, Grace or Tomás');
  });

  it('names a type without a sentence', () => {
    expect(plainType('ACTIVITY_TYPE_SIGN_TRANSACTION_V2')).toBe('Sign transaction v2');
  });

  it('shows what cannot be seen', () => {
    expect(showInvisible('a\u202Eb\u0000')).toBe('a⟨U+202E⟩b⟨U+0000⟩');
  });
});
