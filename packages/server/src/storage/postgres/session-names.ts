// As PostgreSQL shows them, in pg_stat_activity: a restore ends those of pools, which services have.

export const POOL_SESSIONS = 'custos';
/** Of a command that needs no pool. */
export const COMMAND_SESSIONS = 'custos command';
