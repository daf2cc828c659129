import { z } from 'zod';
import { pageQuery } from '../../pagination.js';

/** One value or several of a query parameter. */
const values = z.union([z.string(), z.array(z.string())]).optional();

/** The query string of a list; its metadata filters are whatever else it holds under their names. */
export const listTokensQuery = z.looseObject({ ...pageQuery, id: values, type: values });

export type ListTokensQuery = z.output<typeof listTokensQuery>;
