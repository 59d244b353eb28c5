import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { hasManyPages, refreshFirstPage } from './refresh-queries.ts';

/** A long list that is opened again shows what it knows, with a first page that is read anew if it is old. */
export function useFreshStart(queryKey: readonly unknown[]): void {
  const queries = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the list is opened
  useEffect(() => {
    const query = queries.getQueryCache().find({ queryKey });
    if (query !== undefined && hasManyPages(query) && query.isStale()) void refreshFirstPage(queries, query);
  }, []);
}
