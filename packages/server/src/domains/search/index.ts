import type { Domain } from '../../engine/domain.ts';
import { search as searchAll } from './operations/search.ts';

export const search: Domain = { name: 'search', operations: [searchAll] };
