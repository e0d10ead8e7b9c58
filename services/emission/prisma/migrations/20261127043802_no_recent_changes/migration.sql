-- DropTable
DROP TABLE "recent_change";
