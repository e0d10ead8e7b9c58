-- DropTable
DROP TABLE "inbox";
