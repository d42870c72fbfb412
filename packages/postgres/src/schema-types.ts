import type { ColumnDataType } from 'drizzle-orm';
import type { PgColumn, PgTableWithColumns } from 'drizzle-orm/pg-core';

type Spec = { data: unknown; notNull: boolean; hasDefault: boolean; identity: 'always' | undefined };

/** Always there. */
export type NotNull<Data> = { data: Data; notNull: true; hasDefault: false; identity: undefined };
/** Always there, and the database's own value where an insert leaves it out. */
export type Defaulted<Data> = { data: Data; notNull: true; hasDefault: true; identity: undefined };
/** Always the database's own value. */
export type Identity = { data: number; notNull: true; hasDefault: true; identity: 'always' };
export type Nullable<Data> = { data: Data; notNull: false; hasDefault: false; identity: undefined };

/** A table as queries know it, by what its columns hold. */
export type Table<Name extends string, Specs extends Record<string, Spec>> = PgTableWithColumns<{
  name: Name;
  schema: string;
  columns: { [Key in keyof Specs]: Column<Name, Specs[Key]> };
  dialect: 'pg';
}>;

type Column<TableName extends string, Of extends Spec> = PgColumn<
  Of & {
    name: string;
    tableName: TableName;
    dataType: ColumnDataType;
    columnType: string;
    driverParam: unknown;
    isPrimaryKey: boolean;
    isAutoincrement: boolean;
    hasRuntimeDefault: boolean;
    enumValues: string[] | undefined;
    generated: undefined;
  }
>;
