import type { ColumnDataType } from 'drizzle-orm';
import type { PgColumn, PgTableWithColumns } from 'drizzle-orm/pg-core';

/** A column as queries know it: what it holds, whether it is always there, and whether an insert may leave it out. */
type Column<Data, Present extends boolean, HasDefault extends boolean> = PgColumn<{
  name: string;
  tableName: string;
  dataType: ColumnDataType;
  columnType: string;
  data: Data;
  driverParam: unknown;
  notNull: Present;
  hasDefault: HasDefault;
  isPrimaryKey: boolean;
  isAutoincrement: boolean;
  hasRuntimeDefault: boolean;
  enumValues: string[] | undefined;
}>;

/** Always there. */
export type NotNull<Data> = Column<Data, true, false>;
/** Always there, and by default the database's own value. */
export type Defaulted<Data> = Column<Data, true, true>;
/** May be null. */
export type Nullable<Data> = Column<Data, false, false>;

export type Table<Name extends string, Columns extends Record<string, PgColumn>> = PgTableWithColumns<{
  name: Name;
  schema: string;
  columns: Columns;
  dialect: 'pg';
}>;
