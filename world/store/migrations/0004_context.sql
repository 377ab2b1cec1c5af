-- How a session's context was measured and what its model was told, as JSON:
-- read and written whole with its session, and never searched.

ALTER TABLE sessions ADD COLUMN memo TEXT;
