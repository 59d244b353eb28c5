// The functions of all calls, by the names that these have in calls/table.ts.
export * from './exports.ts';
export * from './imports.ts';
export * from './integrity.ts';
export * from './logins.ts';
export * from './providers.ts';
export * from './recovery-kits.ts';
export * from './ring.ts';
export * from './seals.ts';
export * from './service.ts';
export * from './wallets.ts';
